package status

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"orrery/internal/terminal"
	"orrery/internal/words"
)

// WriteText writes a report for people, with at most limit namespaces; 0: all.
func (r *Report) WriteText(w io.Writer, limit int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, terminal.OneLine(fmt.Sprintf(format, values...)))
	}
	if r.Replica != "" {
		row("asked", "the replica at %s, a client of %s", r.Replica, r.Server)
	} else {
		row("asked", "the cluster at %s", r.Server)
	}
	if r.Stale != "" {
		row("may be old", "%s", r.Stale)
	}
	row("leader", "%s", r.leader())
	switch {
	case r.Backlog != nil:
		row("backlog", "%d waiting, %d in work, %d planned", r.Backlog.Waiting, r.Backlog.Active, r.Backlog.Planned)
	case r.Replica != "":
		row("backlog", "unknown to a standby: ask the leader")
	default:
		row("backlog", "unknown to the cluster: ask the leader with --address")
	}
	row("deletions", "%s", words.Count(len(r.Namespaces), "terminating namespace"))
	if r.Selection != "" && r.Selection != "*" {
		row("passed over", "%s, by --namespaces %s", words.Count(r.PassedOver, "terminating namespace"), r.Selection)
	}
	if err := table.Flush(); err != nil || len(r.Namespaces) == 0 {
		return err
	}
	fmt.Fprint(table, "\nNAMESPACE\tTERMINATING FOR\tSTATE\n")
	shown := r.Namespaces
	if limit > 0 {
		shown = shown[:min(limit, len(shown))]
	}
	for _, n := range shown {
		lasted := words.Duration(time.Duration(n.Seconds) * time.Second)
		name, state := terminal.OneLine(n.Name), terminal.OneLine(n.Deletion.text())
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, lasted, state)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if more := len(r.Namespaces) - len(shown); more > 0 {
		fmt.Fprintf(table, "and %d more; --limit 0 shows all\n", more)
	}
	fmt.Fprintln(table, "\nWhat keeps them, and what to do: orrery why -A")
	return table.Flush()
}

// text returns why a namespace exists, and whether it waits.
func (d Deletion) text() string {
	switch {
	case d.Waits && d.Why == unreported:
		return "waits for a worker"
	case d.Waits:
		return "waits for a worker; " + d.Why
	}
	return d.Why
}

func (r *Report) leader() string {
	l := r.Leader
	switch {
	case l.Missing != "":
		return "none: " + l.Missing
	case l.Lease == "":
		return "no election, this replica works alone"
	}
	text := l.Holder
	if l.Self {
		text += " (this replica)"
	}
	if l.Since != nil {
		text += ", for " + words.Duration(r.Time.Sub(*l.Since))
	}
	silent := time.Duration(l.SilentSeconds) * time.Second
	return fmt.Sprintf("%s; renewed %s ago; Lease %s, %s",
		text, words.Duration(silent), l.Lease, words.Count(l.Transitions, "transition"))
}

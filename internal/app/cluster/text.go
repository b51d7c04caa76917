package cluster

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"orrery/internal/words"
)

// WriteText writes a status for people, with at most limit namespaces; 0: all.
func (r *Status) WriteText(w io.Writer, limit int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, words.OneLine(fmt.Sprintf(format, values...)))
	}
	row("asked", "the cluster at %s", r.Server)
	row("leader", "%s", r.leader())
	row("deletions", "%s", words.Count(len(r.Namespaces), "terminating namespace"))
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
		name, state := words.OneLine(n.Name), words.OneLine(n.Why)
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

func (r *Status) leader() string {
	l := r.Leader
	if l.Missing != "" {
		return "none: " + l.Missing
	}
	text := l.Holder
	if l.Since != nil {
		text += ", for " + words.Duration(r.Time.Sub(*l.Since))
	}
	silent := time.Duration(l.SilentSeconds) * time.Second
	return fmt.Sprintf("%s; renewed %s ago; Lease %s, %s",
		text, words.Duration(silent), l.Lease, words.Count(l.Transitions, "transition"))
}

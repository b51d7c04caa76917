package cluster

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// Status is the state of a controller at one moment: the leader, and the terminating namespaces
// with their ages by the clock of the server. It does not judge which of them are stuck: package
// why does.
type Status struct {
	// Server is the API server.
	Server string `json:"server"`
	// Time is the time of the report by the clock of the server.
	Time   time.Time `json:"time"`
	Leader Leader    `json:"leader"`
	// Namespaces are those terminating, the oldest first.
	Namespaces []Namespace `json:"namespaces"`
	// Problems are empty if there is a leader.
	Problems []string `json:"problems"`
}

// Leader is the holder of the Lease, or the reason why there is none.
type Leader struct {
	Lease         string     `json:"lease"`
	Holder        string     `json:"holder,omitempty"`
	Since         *time.Time `json:"since,omitempty"`
	SilentSeconds int        `json:"silentSeconds"` // since the last renewal
	Transitions   int        `json:"transitions"`
	// Missing says why there is no leader. It is empty if there is one.
	Missing string `json:"missing,omitempty"`
}

// Namespace is a terminating namespace.
type Namespace struct {
	Name      string    `json:"name"`
	DeletedAt time.Time `json:"deletedAt"` // its deletion timestamp
	Why       string    `json:"why"`       // why it still exists
	Seconds   int       `json:"seconds"`   // since DeletedAt
}

// unreported is why a namespace exists that no pass has reported on.
const unreported = "no condition says why"

// reasonOf returns the reason why a namespace still exists: its true conditions, or the finalizers
// of other parties.
func reasonOf(namespace *api.Namespace) string {
	var reasons []string
	for _, condition := range namespace.Status.Conditions {
		if condition.Status == api.ConditionTrue {
			reasons = append(reasons, condition.Message)
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "; ")
	}
	tokens := slices.Concat(namespace.Finalizers, namespace.Spec.Finalizers)
	tokens = slices.DeleteFunc(tokens, func(token string) bool { return token == api.FinalizerKubernetes })
	if len(tokens) > 0 {
		return "the namespace itself has the finalizers " + strings.Join(tokens, ", ")
	}
	return unreported
}

// assess sorts the namespaces, computes ages, and finds the problems.
func (r *Status) assess() {
	slices.SortFunc(r.Namespaces, func(a, b Namespace) int {
		return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), strings.Compare(a.Name, b.Name))
	})
	r.Problems = []string{}
	if r.Leader.Missing != "" {
		r.Problems = append(r.Problems, "no leader: "+r.Leader.Missing)
	}
	for i := range r.Namespaces {
		n := &r.Namespaces[i]
		n.Seconds = int(max(r.Time.Sub(n.DeletedAt), 0).Seconds())
	}
}

// WriteText writes a status for people.
func (r *Status) WriteText(w io.Writer) error {
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
	for _, n := range r.Namespaces {
		lasted := words.Duration(time.Duration(n.Seconds) * time.Second)
		name, state := words.OneLine(n.Name), words.OneLine(n.Why)
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, lasted, state)
	}
	if err := table.Flush(); err != nil {
		return err
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

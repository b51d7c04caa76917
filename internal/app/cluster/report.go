package cluster

import (
	"cmp"
	"slices"
	"strings"
	"time"

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

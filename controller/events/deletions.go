package events

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/words"
	"orrery/nsctl"
	"orrery/restclient/api"
)

// The reasons of the Events about a deletion.
const (
	// ReasonDeleted: the namespace is empty, and this controller has removed its token.
	ReasonDeleted = "NamespaceDeleted"
	// ReasonContentRemaining: something in the namespace needs time to end.
	ReasonContentRemaining = "NamespaceContentRemaining"
	// ReasonBlocked: the deletion cannot go on without intervention.
	ReasonBlocked = "NamespaceDeletionBlocked"
	// ReasonFinalizingFailed: the namespace is empty, and the server does not let this controller
	// finish.
	ReasonFinalizingFailed = "NamespaceFinalizingFailed"
)

// Deletions returns hooks that record the end of each deletion of a namespace, and each change of
// what holds one up.
func Deletions(recorder EventRecorder) *nsctl.Trace {
	d := newDeletions(recorder)
	return &nsctl.Trace{
		Enqueued:          d.enqueued,
		PassContext:       d.passContext,
		ConditionsUpdated: d.conditionsUpdated,
		Finalized:         d.finalized,
	}
}

func newDeletions(recorder EventRecorder) *deletions {
	return &deletions{recorder: recorder, known: map[string]*deletion{}}
}

// manyDeletions is how many namespaces are remembered. For a forgotten one, an Event may be
// recorded twice, or none until it is queued again.
const manyDeletions = 4096

// deletions records what happens to terminating namespaces.
type deletions struct {
	recorder EventRecorder

	mu    sync.Mutex           // guards the fields below
	known map[string]*deletion // by name; at most manyDeletions
}

// deletion is what is known of one namespace.
type deletion struct {
	object   api.ObjectReference
	began    time.Time       // see nsctl.DeletionBegan
	ctx      context.Context // of the latest pass
	passes   int
	reported string // the causes that were last recorded
	ended    bool   // this process has finalized it
}

// at returns what is known of a namespace. In a full map it forgets the deletions that have ended,
// and all if there are none. It must be called with mu held.
func (d *deletions) at(name string) *deletion {
	known := d.known[name]
	if known != nil {
		return known
	}
	if len(d.known) >= manyDeletions {
		maps.DeleteFunc(d.known, func(_ string, known *deletion) bool { return known.ended })
	}
	if len(d.known) >= manyDeletions {
		clear(d.known)
	}
	known = &deletion{}
	d.known[name] = known
	return known
}

func (d *deletions) enqueued(namespace *api.Namespace, _ time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.at(namespace.Name)
	if known.object.UID != namespace.UID {
		*known = deletion{began: nsctl.DeletionBegan(namespace, time.Now())}
	}
	known.object = namespace.Reference("Namespace", "v1")
}

func (d *deletions) passContext(ctx context.Context, namespace string) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.at(namespace)
	known.ctx = context.WithoutCancel(ctx) // for what it carries
	known.passes++
	return ctx
}

func (d *deletions) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	trouble := troubleIn(conditions)
	d.tell(namespace, trouble.kind, trouble.reason, trouble.message, strings.Join(trouble.causes, " "))
}

func (d *deletions) finalized(namespace string, err error) {
	var refused *api.StatusError
	switch {
	case err == nil:
		d.tellEnd(namespace)
	case api.IsNotFound(err):
		// another controller has finalized it
	case errors.As(err, &refused):
		message := "The namespace is empty, but it cannot be finalized: " + refused.Error()
		d.tell(namespace, api.EventWarning, ReasonFinalizingFailed, message, ReasonFinalizingFailed)
	}
}

// tell records an Event unless the same causes were recorded last. An empty reason means that
// nothing holds the deletion up.
func (d *deletions) tell(namespace string, kind api.EventType, reason, message, causes string) {
	d.mu.Lock()
	known := d.at(namespace)
	again := known.reported == causes
	known.reported = causes
	now := *known
	d.mu.Unlock()
	if reason != "" && !again && now.object.UID != "" {
		d.recorder.Event(now.context(), now.object, kind, reason, message)
	}
}

func (d *deletions) tellEnd(namespace string) {
	d.mu.Lock()
	state := d.at(namespace)
	state.ended = true
	known := *state
	d.mu.Unlock()
	if known.object.UID == "" {
		return
	}
	message := fmt.Sprintf("Emptied and finalized within %s, in %s of this process",
		shown(time.Since(known.began)), words.Count(known.passes, "pass"))
	d.recorder.Event(known.context(), known.object, api.EventNormal, ReasonDeleted, message)
}

func (d *deletion) context() context.Context {
	if d.ctx == nil {
		return context.Background()
	}
	return d.ctx
}

// shown formats a duration for people.
func shown(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// trouble is why a namespace still exists, from its conditions. An empty reason means that they
// give none.
type trouble struct {
	kind    api.EventType
	reason  string
	message string
	causes  []string // the reasons of the conditions that are true
}

// blocking lists the conditions that waiting does not end.
var blocking = []api.NamespaceConditionType{
	api.NamespaceDeletionDiscoveryFailure, api.NamespaceDeletionGVParsingFailure,
	api.NamespaceDeletionContentFailure, api.NamespaceFinalizersRemaining,
}

func troubleIn(conditions []api.NamespaceCondition) trouble {
	var found trouble
	var texts []string
	for _, condition := range conditions {
		if condition.Status != api.ConditionTrue {
			continue
		}
		blocks := slices.Contains(blocking, condition.Type)
		switch {
		case blocks:
			found.kind, found.reason = api.EventWarning, ReasonBlocked
		case condition.Type != api.NamespaceContentRemaining:
			continue // of another controller
		case found.reason == "":
			found.kind, found.reason = api.EventNormal, ReasonContentRemaining
		}
		found.causes = append(found.causes, condition.Reason)
		texts = append(texts, condition.Message)
	}
	found.message = strings.Join(texts, "; ")
	return found
}

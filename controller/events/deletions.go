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
// what holds one up. If more than 4096 namespaces are terminating, it may record an Event twice, or
// none until a namespace is queued again.
func Deletions(recorder EventRecorder) *nsctl.Trace {
	d := &deletions{recorder: recorder, known: map[string]*deletion{}}
	return &nsctl.Trace{
		Enqueued:          d.enqueued,
		PassContext:       d.passContext,
		ConditionsUpdated: d.conditionsUpdated,
		Finalized:         d.finalized,
	}
}

// deletions records what happens to terminating namespaces.
type deletions struct {
	recorder EventRecorder

	mu    sync.Mutex           // guards the fields below
	known map[string]*deletion // by name
}

// deletion is what is known of one namespace.
type deletion struct {
	object   api.ObjectReference
	began    time.Time       // see nsctl.DeletionBegan
	ctx      context.Context // of the latest pass
	passes   int
	reported string // the causes that were last recorded
}

// at returns what is known of a namespace. In a full table it first forgets the deletions that have
// ended. It must be called with mu held.
func (d *deletions) at(name string) *deletion {
	known := d.known[name]
	if known == nil {
		known = &deletion{ctx: context.Background()}
		if len(d.known) >= remembered {
			maps.DeleteFunc(d.known, func(_ string, known *deletion) bool { return known.reported == ReasonDeleted })
		}
		remember(d.known, name, known)
	}
	return known
}

func (d *deletions) enqueued(namespace *api.Namespace, _ time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.at(namespace.Name)
	if known.object.UID != namespace.UID {
		*known = deletion{ctx: context.Background(), began: nsctl.DeletionBegan(namespace, time.Now())}
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
	found := troubleIn(conditions)
	d.tell(namespace, strings.Join(found.causes, " "), func(*deletion) trouble { return found })
}

func (d *deletions) finalized(namespace string, err error) {
	var refused *api.StatusError
	switch {
	case err == nil:
		d.tell(namespace, ReasonDeleted, func(known *deletion) trouble {
			message := fmt.Sprintf("Emptied and finalized within %s, in %s of this process",
				shown(time.Since(known.began)), words.Count(known.passes, "pass"))
			return trouble{kind: api.EventNormal, reason: ReasonDeleted, message: message}
		})
	case api.IsNotFound(err):
		// another controller has finalized it
	case errors.As(err, &refused):
		message := "The namespace is empty, but it cannot be finalized: " + refused.Error()
		d.tell(namespace, ReasonFinalizingFailed, func(*deletion) trouble {
			return trouble{kind: api.EventWarning, reason: ReasonFinalizingFailed, message: message}
		})
	}
}

// tell records an Event unless the same causes were recorded last. An empty reason means that
// nothing holds the deletion up.
func (d *deletions) tell(namespace, causes string, describe func(known *deletion) trouble) {
	d.mu.Lock()
	known := d.at(namespace)
	again := known.reported == causes
	known.reported = causes
	now := *known
	d.mu.Unlock()
	event := describe(&now)
	if event.reason != "" && !again && now.object.UID != "" {
		d.recorder.Event(now.ctx, now.object, event.kind, event.reason, event.message)
	}
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

package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// The reasons of the Events about a deletion.
const (
	// ReasonDeleted: the namespace is empty, and this controller holds it no more.
	ReasonDeleted = "NamespaceDeleted"
	// ReasonContentRemaining: something in the namespace needs time to end. It is going to.
	ReasonContentRemaining = "NamespaceContentRemaining"
	// ReasonBlocked: the deletion cannot go on before somebody does something.
	ReasonBlocked = "NamespaceDeletionBlocked"
	// ReasonFinalizingFailed: the namespace is empty, and the server does not let this controller finish.
	ReasonFinalizingFailed = "NamespaceFinalizingFailed"
)

// Deletions returns hooks that have the outcome of each deletion of a namespace recorded: once when it is done, and once
// whenever something else, or something for another reason, holds it up.
func Deletions(recorder EventRecorder) *nsctl.Trace {
	d := &deletions{recorder: recorder, known: newLRU[string, deletion](manyDeletions)}
	return &nsctl.Trace{
		Enqueued:          d.enqueued,
		PassContext:       d.passContext,
		ConditionsUpdated: d.conditionsUpdated,
		Finalized:         d.finalized,
	}
}

// manyDeletions bounds how many namespaces are remembered. Of one that is forgotten something may be told twice.
const manyDeletions = 4096

// deletions tells what happens to namespaces.
type deletions struct {
	recorder EventRecorder

	// mu guards known.
	mu    sync.Mutex
	known *lru[string, deletion] // by name
}

// deletion is what is known of one namespace.
type deletion struct {
	object api.ObjectReference
	seen   time.Time       // first in deletion, by our own clock
	ctx    context.Context // of the latest pass
	passes int
	told   string // what holds it up, as it was told last
}

func (d *deletions) enqueued(namespace *api.Namespace, _ time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.known.at(namespace.Name)
	if known.object.UID != namespace.UID {
		*known = deletion{seen: time.Now()}
	}
	known.object = api.ObjectReference{
		Kind: "Namespace", APIVersion: "v1",
		Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion,
	}
}

func (d *deletions) passContext(ctx context.Context, namespace string) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.known.at(namespace)
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
		// somebody else has done it
	case errors.As(err, &refused):
		message := "The namespace is empty, but it cannot be finalized: " + refused.Error()
		d.tell(namespace, api.EventWarning, ReasonFinalizingFailed, message, ReasonFinalizingFailed)
	}
}

// tell has something recorded unless the same causes were told last. No reason: nothing holds it up any more.
func (d *deletions) tell(namespace string, kind api.EventType, reason, message, causes string) {
	d.mu.Lock()
	known := d.known.at(namespace)
	again := known.told == causes
	known.told = causes
	now := *known
	d.mu.Unlock()
	if reason != "" && !again && now.object.UID != "" {
		d.recorder.Event(now.context(), now.object, kind, reason, message)
	}
}

func (d *deletions) tellEnd(namespace string) {
	d.mu.Lock()
	known := *d.known.at(namespace)
	d.mu.Unlock()
	if known.object.UID == "" {
		return
	}
	message := fmt.Sprintf("Emptied and finalized within %s, in %s", shown(time.Since(known.seen)), counted(known.passes, "pass", "passes"))
	d.recorder.Event(known.context(), known.object, api.EventNormal, ReasonDeleted, message)
}

func (d *deletion) context() context.Context {
	if d.ctx == nil {
		return context.Background()
	}
	return d.ctx
}

// shown is a duration as people say it.
func shown(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// trouble is what the conditions of a namespace say about why it is still there. No reason: nothing.
type trouble struct {
	kind    api.EventType
	reason  string
	message string
	causes  []string // the reasons of the conditions that hold
}

// blocking are the conditions that do not go away by waiting.
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
			continue // not this controller's
		case found.reason == "":
			found.kind, found.reason = api.EventNormal, ReasonContentRemaining
		}
		found.causes = append(found.causes, condition.Reason)
		texts = append(texts, condition.Message)
	}
	found.message = strings.Join(texts, "; ")
	return found
}

package nsctl

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// ResourcesRemainingError reports that a pass succeeded but content needs time to go. It is not a
// failure: the failure count of the namespace does not change.
type ResourcesRemainingError struct {
	// Estimate is the number of seconds until the content is expected to be gone.
	Estimate int64
	// Elapsed is the time since the deletion began; 0 if it is not known. The controller sets it.
	Elapsed time.Duration
}

// Error uses upstream's words, which operators search their logs for.
func (e *ResourcesRemainingError) Error() string {
	return fmt.Sprintf("some content remains in the namespace, estimate %d seconds before it is removed", e.Estimate)
}

// RequeueAfter returns the time until the next pass: half the estimate in whole seconds, plus one.
// Pods often end before their grace period does, so it is never longer than the deletion has taken
// so far, but at least a second. In kube-controller-manager its own status update has a similar
// effect: it brings a pass after five seconds.
func (e *ResourcesRemainingError) RequeueAfter() time.Duration {
	after := time.Duration(e.Estimate/2+1) * time.Second
	if e.Elapsed > 0 {
		after = min(after, max(e.Elapsed.Round(time.Second), time.Second))
	}
	return after
}

// ContentError is why a pass over a namespace's content failed: one error for each thing that went
// wrong. errors.Is and errors.As look through all of them.
type ContentError struct{ Errors []error }

func (e *ContentError) Error() string {
	if len(e.Errors) == 1 {
		return e.Errors[0].Error()
	}
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return fmt.Sprintf("%d errors: [%s]", len(texts), strings.Join(texts, ", "))
}

func (e *ContentError) Unwrap() []error { return e.Errors }

// ResourceError reports that a request about one type of a namespace's content failed.
type ResourceError struct {
	// Doing is what failed: "deleting the collection", "listing" or "deleting NAME".
	Doing    string
	Resource api.GroupVersionResource
	Err      error
}

// Error names the type as kubectl does: "pods", "deployments.apps".
func (e *ResourceError) Error() string {
	return fmt.Sprintf("%s of %s: %v", e.Doing, e.Resource.TypeName(), e.Err)
}

func (e *ResourceError) Unwrap() error { return e.Err }

// UnexpectedItemsError reports that objects outlive their deletion although neither a grace period
// nor a finalizer explains it.
type UnexpectedItemsError struct {
	Namespace string
	Resource  api.GroupVersionResource
	Items     int
}

// Error uses upstream's words, since they appear in the namespace's conditions.
func (e *UnexpectedItemsError) Error() string {
	return fmt.Sprintf("unexpected items still remain in namespace: %s for gvr: %v", e.Namespace, e.Resource)
}

// UIDChangedError reports that the namespace was re-created under its old name while it was being
// written to. The new namespace must not be changed on the old one's account.
type UIDChangedError struct {
	Namespace string
	OldUID    string
	NewUID    string
}

func (e *UIDChangedError) Error() string {
	return fmt.Sprintf("namespace %s was re-created while it was being deleted (uid %s became %s)", e.Namespace,
		e.OldUID, e.NewUID)
}

// ErrGone ends the pass over a namespace that has gone. It is not a failure: Delete returns nil.
var ErrGone = errors.New("the namespace has gone")

// ErrUnread: the server has accepted a deletion, and its answer could not be read. A list says what
// is left; without the verb list nothing does.
var ErrUnread = errors.New("the answer to the deletion could not be read")

// EndlessListError reports that a server's list of a type does not end. It says nothing about what
// is in the namespace.
type EndlessListError struct {
	Resource api.GroupVersionResource
	Reason   string
}

func (e *EndlessListError) Error() string {
	return fmt.Sprintf("the list of %s does not end: %s", e.Resource.TypeName(), e.Reason)
}

// ErrNothingDiscovered reports that a server lists no type that could be deleted. A server with
// namespaces has some, so nothing may be concluded from the answer.
var ErrNothingDiscovered = errors.New("the API server lists no resource types")

// maxMessage bounds a condition's message, in bytes. A server owns the texts of its answers, and a
// status that is too large could not be written at all.
const maxMessage = 32 << 10

// cutText returns a text of at most limit bytes: all of text, or its beginning and a mark that
// something is missing.
func cutText(text string, limit int) string {
	const mark = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// conditionText returns how an error reads in a condition: the server's own words where it gave
// any, as in upstream, without the context that a log line needs.
func conditionText(err error) string {
	if status, ok := errors.AsType[*api.StatusError](err); ok {
		return status.Error()
	}
	if resource, ok := errors.AsType[*ResourceError](err); ok {
		return resource.Err.Error()
	}
	return err.Error()
}

// discoveryMessage returns the message of the discovery condition. It counts and names the groups
// that failed, so that an operator sees at once which aggregated API is down.
func discoveryMessage(err error) string {
	groups, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(groups.Groups), groups)
}

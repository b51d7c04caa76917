package api

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// GetOptions are the query parameters of a get request. The zero value asks for the latest state.
type GetOptions struct {
	// ResourceVersion "" is a consistent read; "0" lets the server answer from its cache.
	ResourceVersion string
}

// ListOptions are the query parameters of list, watch and delete-collection requests. Fields that
// only one of them reads are ignored by the others. The zero value lists everything by a consistent
// read.
type ListOptions struct {
	// LabelSelector and FieldSelector narrow the request down: "app=web,tier!=db",
	// "metadata.name=default". The server reads them. "" selects everything.
	LabelSelector string
	FieldSelector string

	// ResourceVersion "" is a consistent read (for a watch: start now with synthetic ADDED events),
	// "0" any version in the server's cache, anything else a version at least that new.
	ResourceVersion string
	// ResourceVersionMatch is the meaning of ResourceVersion: [MatchNotOlderThan] or [MatchExact];
	// "" means the server's default.
	ResourceVersionMatch ResourceVersionMatch

	Limit    int64  // the maximum number of items in one answer; 0 means all
	Continue string // the token from the previous page

	TimeoutSeconds      int64 // when the server ends the request; 0 means the server's default
	AllowWatchBookmarks bool  // requests BOOKMARK events. Watch only.
	// SendInitialEvents requests the current state as ADDED events before the changes, ended by a
	// bookmark (KEP-3157, streaming lists). Watch only; requires ResourceVersionMatch=NotOlderThan.
	SendInitialEvents bool
}

// ResourceVersionMatch is the meaning of a resource version in a request.
type ResourceVersionMatch string

// The two ways to match.
const (
	MatchNotOlderThan ResourceVersionMatch = "NotOlderThan"
	MatchExact        ResourceVersionMatch = "Exact"
)

// DeletePropagation is the policy for the objects that a deleted object owns.
type DeletePropagation string

// The three policies.
const (
	DeletePropagationOrphan     DeletePropagation = "Orphan"
	DeletePropagationBackground DeletePropagation = "Background"
	DeletePropagationForeground DeletePropagation = "Foreground"
)

// DeleteOptions is the body of delete and delete-collection requests. The zero value means the
// defaults of the type.
type DeleteOptions struct {
	GracePeriodSeconds *int64            `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *Preconditions    `json:"preconditions,omitempty"`
	PropagationPolicy  DeletePropagation `json:"propagationPolicy,omitempty"`
	DryRun             bool              `json:"-"` // validates without storing anything
}

// Preconditions must hold for a delete to happen; otherwise the server answers with a conflict.
type Preconditions struct {
	UID             *string `json:"uid,omitempty"`
	ResourceVersion *string `json:"resourceVersion,omitempty"`
}

// UpdateOptions are the query parameters of create, update and patch requests.
type UpdateOptions struct {
	// FieldManager names the writer in managed fields; "" lets the server derive it from the user
	// agent.
	FieldManager string
	DryRun       bool // validates without storing anything
}

// PatchType is the content type of a patch.
type PatchType string

// The patch formats of Kubernetes.
const (
	JSONPatchType           PatchType = "application/json-patch+json"
	MergePatchType          PatchType = "application/merge-patch+json"
	StrategicMergePatchType PatchType = "application/strategic-merge-patch+json"
	ApplyPatchType          PatchType = "application/apply-patch+yaml"
)

// Query returns the options as URL parameters.
func (o GetOptions) Query() url.Values { return query("resourceVersion", o.ResourceVersion) }

// Query returns the options as URL parameters, without the parameter "watch".
func (o ListOptions) Query() url.Values {
	return query(
		"labelSelector", o.LabelSelector,
		"fieldSelector", o.FieldSelector,
		"resourceVersion", o.ResourceVersion,
		"resourceVersionMatch", string(o.ResourceVersionMatch),
		"limit", number(o.Limit),
		"continue", o.Continue,
		"timeoutSeconds", number(o.TimeoutSeconds),
		"allowWatchBookmarks", flag(o.AllowWatchBookmarks, "true"),
		"sendInitialEvents", flag(o.SendInitialEvents, "true"),
	)
}

// Query returns the options as URL parameters.
func (o UpdateOptions) Query() url.Values {
	return query("fieldManager", o.FieldManager, "dryRun", flag(o.DryRun, dryRunAll))
}

// query returns the parameters of pairs of a name and a value, without those of empty values.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	return q
}

// number returns the number as text, or "" for 0.
func number(value int64) string {
	if value == 0 {
		return ""
	}
	return strconv.FormatInt(value, 10)
}

// flag returns the text if the flag is set.
func flag(set bool, text string) string {
	if !set {
		return ""
	}
	return text
}

// dryRunAll is Kubernetes' only dry-run directive: run all stages but the last.
const dryRunAll = "All"

// wireDeleteOptions is the JSON form of DeleteOptions.
type wireDeleteOptions struct {
	TypeMeta
	plainDeleteOptions
	DryRun []string `json:"dryRun,omitempty"`
}

// plainDeleteOptions is DeleteOptions without its methods, for encoding/json.
type plainDeleteOptions DeleteOptions

// MarshalJSON encodes the options as the body of a delete request.
func (o DeleteOptions) MarshalJSON() ([]byte, error) {
	wire := wireDeleteOptions{
		TypeMeta:           TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		plainDeleteOptions: plainDeleteOptions(o),
	}
	if o.DryRun {
		wire.DryRun = []string{dryRunAll}
	}
	return json.Marshal(wire)
}

// UnmarshalJSON decodes the body of a delete request.
func (o *DeleteOptions) UnmarshalJSON(data []byte) error {
	var wire wireDeleteOptions
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*o = DeleteOptions(wire.plainDeleteOptions)
	o.DryRun = len(wire.DryRun) > 0
	return nil
}

type throttledKey struct{}

// WithThrottled returns a context for requests whose caller measures the server's response time.
// The client calls waits, on the goroutine of the request, before it makes the request wait for the
// client's own rate limit. A Reflector extends its timeout by that.
func WithThrottled(ctx context.Context, waits func(time.Duration)) context.Context {
	return context.WithValue(ctx, throttledKey{}, waits)
}

// Throttled calls the function of [WithThrottled], if any, before the request of ctx waits.
func Throttled(ctx context.Context, wait time.Duration) {
	if waits, ok := ctx.Value(throttledKey{}).(func(time.Duration)); ok {
		waits(wait)
	}
}

type singleAttemptKey struct{}

// WithSingleAttempt returns a context for callers with a back-off of their own, such as a
// Reflector: the client sends a request once and returns the result, including Retry-After. Nested
// retries multiply, and the inner one hides the refusal from the outer one, which knows a better
// recovery action.
func WithSingleAttempt(ctx context.Context) context.Context {
	return context.WithValue(ctx, singleAttemptKey{}, true)
}

// IsSingleAttempt reports whether ctx is derived from [WithSingleAttempt].
func IsSingleAttempt(ctx context.Context) bool {
	return ctx.Value(singleAttemptKey{}) != nil
}

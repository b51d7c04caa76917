package api

import (
	"encoding/json"
	"net/url"
	"strconv"
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
	GracePeriodSeconds *int64
	Preconditions      *Preconditions
	PropagationPolicy  DeletePropagation
	DryRun             bool // validates without storing anything
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
	Force        bool // takes ownership of fields from other managers. Apply patches only.
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
func (o GetOptions) Query() url.Values {
	q := queryBuilder{}
	q.text("resourceVersion", o.ResourceVersion)
	return url.Values(q)
}

// Query returns the options as URL parameters, without the parameter "watch".
func (o ListOptions) Query() url.Values {
	q := queryBuilder{}
	q.text("labelSelector", o.LabelSelector)
	q.text("fieldSelector", o.FieldSelector)
	q.text("resourceVersion", o.ResourceVersion)
	q.text("resourceVersionMatch", string(o.ResourceVersionMatch))
	q.number("limit", o.Limit)
	q.text("continue", o.Continue)
	q.number("timeoutSeconds", o.TimeoutSeconds)
	q.flag("allowWatchBookmarks", o.AllowWatchBookmarks)
	q.flag("sendInitialEvents", o.SendInitialEvents)
	return url.Values(q)
}

// Query returns the options as URL parameters.
func (o UpdateOptions) Query() url.Values {
	q := queryBuilder{}
	q.text("fieldManager", o.FieldManager)
	if o.DryRun {
		q.text("dryRun", dryRunAll)
	}
	q.flag("force", o.Force)
	return url.Values(q)
}

// dryRunAll is Kubernetes' only dry-run directive: run all stages but the last.
const dryRunAll = "All"

// wireDeleteOptions is the JSON form of DeleteOptions.
type wireDeleteOptions struct {
	TypeMeta           `json:",inline"`
	GracePeriodSeconds *int64            `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *Preconditions    `json:"preconditions,omitempty"`
	PropagationPolicy  DeletePropagation `json:"propagationPolicy,omitempty"`
	DryRun             []string          `json:"dryRun,omitempty"`
}

// MarshalJSON encodes the options as the body of a delete request.
func (o DeleteOptions) MarshalJSON() ([]byte, error) {
	wire := wireDeleteOptions{
		TypeMeta:           TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		GracePeriodSeconds: o.GracePeriodSeconds,
		Preconditions:      o.Preconditions,
		PropagationPolicy:  o.PropagationPolicy,
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
	*o = DeleteOptions{
		GracePeriodSeconds: wire.GracePeriodSeconds,
		Preconditions:      wire.Preconditions,
		PropagationPolicy:  wire.PropagationPolicy,
		DryRun:             len(wire.DryRun) > 0,
	}
	return nil
}

// queryBuilder leaves out zero values.
type queryBuilder url.Values

func (q queryBuilder) text(name, value string) {
	if value != "" {
		q[name] = []string{value}
	}
}

func (q queryBuilder) number(name string, value int64) {
	if value != 0 {
		q.text(name, strconv.FormatInt(value, 10))
	}
}

func (q queryBuilder) flag(name string, value bool) {
	if value {
		q.text(name, "true")
	}
}

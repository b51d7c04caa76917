package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// Query returns the options as an API server wants to read them in a URL.
func (o GetOptions) Query() url.Values {
	q := queryBuilder{}
	q.text("resourceVersion", o.ResourceVersion)
	return url.Values(q)
}

// Query returns the options as an API server wants to read them in a URL. Whether the request is a list or a watch is
// said by another parameter, "watch", which is not part of the options.
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

// ParseListOptions is the reverse of [ListOptions.Query]. Parameters that it does not know are ignored.
func ParseListOptions(query url.Values) (ListOptions, error) {
	o := ListOptions{
		LabelSelector:        query.Get("labelSelector"),
		FieldSelector:        query.Get("fieldSelector"),
		ResourceVersion:      query.Get("resourceVersion"),
		ResourceVersionMatch: ResourceVersionMatch(query.Get("resourceVersionMatch")),
		Continue:             query.Get("continue"),
	}
	for name, field := range map[string]*int64{"limit": &o.Limit, "timeoutSeconds": &o.TimeoutSeconds} {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return ListOptions{}, fmt.Errorf("%s is not a whole number: %q", name, text)
			}
			*field = value
		}
	}
	for name, field := range map[string]*bool{
		"allowWatchBookmarks": &o.AllowWatchBookmarks, "sendInitialEvents": &o.SendInitialEvents,
	} {
		value, err := ParseBool(query.Get(name))
		if err != nil {
			return ListOptions{}, fmt.Errorf("%s: %w", name, err)
		}
		*field = value
	}
	return o, nil
}

// ParseBool reads a flag in a query: empty is false, otherwise what strconv.ParseBool reads.
func ParseBool(text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	return strconv.ParseBool(text)
}

// Query returns the options as an API server wants to read them in a URL.
func (o UpdateOptions) Query() url.Values {
	q := queryBuilder{}
	q.text("fieldManager", o.FieldManager)
	if o.DryRun {
		q.text("dryRun", dryRunAll)
	}
	q.flag("force", o.Force)
	return url.Values(q)
}

// dryRunAll is the only dry-run directive that Kubernetes knows: run all stages but the last.
const dryRunAll = "All"

// wireDeleteOptions is DeleteOptions as it travels.
type wireDeleteOptions struct {
	TypeMeta           `json:",inline"`
	GracePeriodSeconds *int64            `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *Preconditions    `json:"preconditions,omitempty"`
	PropagationPolicy  DeletePropagation `json:"propagationPolicy,omitempty"`
	DryRun             []string          `json:"dryRun,omitempty"`
}

// MarshalJSON writes the options as the body of a delete request.
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

// UnmarshalJSON reads the body of a delete request.
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

// queryBuilder leaves out what has its zero value.
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

package registry

import (
	"errors"
	"math"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/selector"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// List returns a collection or one page of it. resourceVersion and resourceVersionMatch select the
// version (KEP-2340; "semantics for list" in the API concepts):
//
//	""                   the latest
//	"0"                  whatever the replica has; limit is ignored
//	N                    at least N; with a limit exactly N, as before KEP-2340
//	N NotOlderThan       at least N
//	N Exact              exactly N, or 410 if that is compacted
//	with continue        the version of the first page
func (r *Registry) List(t Target, o api.ListOptions) (*Page, error) {
	selected, err := t.selects(o, checkListOptions(o))
	if err != nil {
		return nil, err
	}
	if o.Continue != "" {
		return r.nextPage(t, o, selected)
	}
	asked, err := queryVersion(o.ResourceVersion)
	if err != nil {
		return nil, apierrors.BadRequest("invalid resource version: " + err.Error())
	}
	limit := o.Limit
	var view *store.View
	switch {
	case o.ResourceVersion == "":
		view, err = r.collection(t).View(0)
	case o.ResourceVersion == "0":
		limit = 0
		view, err = r.cached(t, 0)
	case o.ResourceVersionMatch == api.MatchExact, o.ResourceVersionMatch == "" && limit > 0:
		view, err = r.collection(t).View(asked)
	default:
		view, err = r.cached(t, asked)
	}
	if err != nil {
		return nil, r.readError(t, err, "The resourceVersion for the provided list is too old.")
	}
	return page(view, selected, store.Key{}, limit, int64(view.Version())), nil
}

// CheckList validates the options of a list: selectors and combinations of options.
func (r *Registry) CheckList(t Target, o api.ListOptions) error {
	_, err := t.selects(o, checkListOptions(o))
	return err
}

func (r *Registry) nextPage(t Target, o api.ListOptions, selected selection) (*Page, error) {
	token, err := parseToken(o.Continue)
	if err != nil {
		return nil, err
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return nil, apierrors.BadRequest("specifying resource version is not allowed when using continue")
	}
	if r.expires != nil && r.expires(t) {
		return nil, token.tooOld()
	}
	at := uint64(max(token.Version, 0))
	view, err := r.collection(t).View(at)
	if _, expired := errors.AsType[*store.ExpiredError](err); expired {
		return nil, token.tooOld()
	}
	if err != nil {
		return nil, r.readError(t, err, "")
	}
	return page(view, selected, token.after(selected.namespace), o.Limit, int64(view.Version())), nil
}

// page reads up to limit objects, and one more to see whether there is a next page.
func page(view *store.View, selected selection, after store.Key, limit, version int64) *Page {
	p := &Page{Version: view.Version()}
	if limit <= 0 {
		limit = math.MaxInt64
	}
	if selected.all() && limit == math.MaxInt64 {
		p.Items = make([]*store.Object, 0, view.LenAfter(selected.namespace, after))
	}
	view.Ascend(selected.namespace, after, func(o *store.Object) bool {
		if !selected.matches(o) {
			return true
		}
		if int64(len(p.Items)) == limit {
			last := p.Items[limit-1].Key
			p.Continue = tokenAfter(version, last)
			if selected.all() {
				remaining := int64(view.LenAfter(selected.namespace, last))
				p.Remaining = &remaining
			}
			return false
		}
		p.Items = append(p.Items, o)
		return true
	})
	return p
}

// readError converts an error of a read into an API status.
func (r *Registry) readError(t Target, err error, expired string) error {
	if future, ok := errors.AsType[*store.FutureError](err); ok {
		return apierrors.TooLargeVersion(future.Version, future.Current)
	}
	if _, ok := errors.AsType[*store.ExpiredError](err); ok {
		return apierrors.Expired(expired)
	}
	if errors.Is(err, store.ErrDropped) {
		return apierrors.ResourceNotFound()
	}
	return r.storeError(t, err)
}

// checkListOptions returns the forbidden combinations of list options.
func checkListOptions(o api.ListOptions) []apierrors.FieldError {
	const match = "resourceVersionMatch"
	var errs []apierrors.FieldError
	forbid := func(field, detail string) {
		errs = append(errs, apierrors.FieldError{Type: apierrors.FieldForbidden, Field: field, Detail: detail})
	}
	if o.SendInitialEvents {
		forbid("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	if o.ResourceVersionMatch == "" {
		return errs
	}
	if o.ResourceVersion == "" {
		forbid(match, "resourceVersionMatch is forbidden unless resourceVersion is provided")
	}
	if o.Continue != "" {
		forbid(match, "resourceVersionMatch is forbidden when continue is provided")
	}
	switch o.ResourceVersionMatch {
	case api.MatchExact:
		if o.ResourceVersion == "0" {
			forbid(match, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	case api.MatchNotOlderThan:
	default:
		errs = append(errs, apierrors.FieldError{
			Type: apierrors.FieldNotSupported, Field: match, Value: string(o.ResourceVersionMatch),
			Detail: `supported values: "Exact", "NotOlderThan", ""`,
		})
	}
	return errs
}

func invalidOptions(errs []apierrors.FieldError) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.Invalid("meta.k8s.io", "ListOptions", "", errs)
}

// Page is the answer to a list request: a whole collection or a part of it.
type Page struct {
	// Items are ordered by namespace and name. They are shared and must not be changed.
	Items []*store.Object
	// Version is the resourceVersion of the list. All pages have the same.
	Version uint64
	// Continue is the token of the next page, "" on the last one.
	Continue string
	// Remaining is the number of items on later pages. It is nil on the last page, and unknown
	// (nil) with selectors.
	Remaining *int64
}

// selection selects the objects of a list or watch.
type selection struct {
	namespace string
	labels    selector.Labels
	fields    selector.Fields
}

// selects parses the selectors of a request. kube-apiserver reports malformed selectors before the
// other mistakes, and unknown fields after them.
func (t Target) selects(o api.ListOptions, wrong []apierrors.FieldError) (selection, error) {
	labels, err := selector.ParseLabels(o.LabelSelector)
	if err != nil {
		return selection{}, apierrors.BadRequest(err.Error())
	}
	fields, err := selector.ParseFields(o.FieldSelector)
	if err != nil {
		return selection{}, apierrors.BadRequest(err.Error())
	}
	if err := invalidOptions(wrong); err != nil {
		return selection{}, err
	}
	if fields, err = t.Definition.FieldSelector(fields); err != nil {
		return selection{}, apierrors.BadRequest(err.Error())
	}
	return selection{namespace: t.in(), labels: labels, fields: fields}, nil
}

const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// all reports whether there are no selectors.
func (s *selection) all() bool { return s.labels.Empty() && s.fields.Empty() }

func (s *selection) matches(o *store.Object) bool {
	if s.namespace != "" && o.Key.Namespace != s.namespace {
		return false
	}
	return (s.labels.Empty() || s.labels.Matches(o.Labels)) &&
		(s.fields.Empty() || s.fields.Matches(func(field string) string { return fieldOf(o, field) }))
}

func fieldOf(o *store.Object, field string) string {
	switch field {
	case nameField:
		return o.Key.Name
	case namespaceField:
		return o.Key.Namespace
	}
	return o.Fields[field]
}

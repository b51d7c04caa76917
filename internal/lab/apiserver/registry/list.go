package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/resources"
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
		return nil, resources.BadRequest("invalid resource version: " + err.Error())
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
	return page(view, selected, store.Key{}, limit), nil
}

func (r *Registry) nextPage(t Target, o api.ListOptions, selected selection) (*Page, error) {
	token, err := parseToken(o.Continue)
	if err != nil {
		return nil, err
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return nil, resources.BadRequest("specifying resource version is not allowed when using continue")
	}
	if r.config.ExpireContinue != nil && r.config.ExpireContinue(t) {
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
	return page(view, selected, token.after(selected.namespace), o.Limit), nil
}

// page reads up to limit objects, and one more to see whether there is a next page.
func page(view *store.View, selected selection, after store.Key, limit int64) *Page {
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
			token := continueToken{tokenFormat, int64(view.Version()), "/" + last.String() + "\x00"}
			p.Continue = token.String()
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
		return resources.TooLargeVersion(future.Version, future.Current)
	}
	if _, ok := errors.AsType[*store.ExpiredError](err); ok {
		return resources.Expired(expired)
	}
	if errors.Is(err, store.ErrDropped) {
		return resources.ResourceNotFound()
	}
	return r.storeError(t, err)
}

// matchField is the name of ListOptions.ResourceVersionMatch.
const matchField = "resourceVersionMatch"

// checkListOptions returns the forbidden combinations of list options.
func checkListOptions(o api.ListOptions) (wrong resources.Errors) {
	if o.SendInitialEvents {
		wrong.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	if o.ResourceVersionMatch == "" {
		return wrong
	}
	if o.ResourceVersion == "" {
		wrong.Forbidden(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided")
	}
	if o.Continue != "" {
		wrong.Forbidden(matchField, "resourceVersionMatch is forbidden when continue is provided")
	}
	switch o.ResourceVersionMatch {
	case api.MatchExact:
		if o.ResourceVersion == "0" {
			wrong.Forbidden(matchField, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	case api.MatchNotOlderThan:
	default:
		wrong.Add(resources.FieldNotSupported, matchField, string(o.ResourceVersionMatch),
			`supported values: "Exact", "NotOlderThan", ""`)
	}
	return wrong
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
	labels    resources.Labels
	fields    resources.Fields
}

// selects parses the selectors of a request. kube-apiserver reports malformed selectors before the
// other mistakes, and unknown fields after them.
func (t Target) selects(o api.ListOptions, wrong resources.Errors) (selection, error) {
	labels, err := resources.ParseLabels(o.LabelSelector)
	if err != nil {
		return selection{}, resources.BadRequest(err.Error())
	}
	fields, err := resources.ParseFields(o.FieldSelector)
	if err != nil {
		return selection{}, resources.BadRequest(err.Error())
	}
	if len(wrong) > 0 {
		return selection{}, resources.Invalid("meta.k8s.io", "ListOptions", "", wrong)
	}
	if fields, err = t.Definition.FieldSelector(fields); err != nil {
		return selection{}, resources.BadRequest(err.Error())
	}
	return selection{namespace: t.in(), labels: labels, fields: fields}, nil
}

const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// all reports whether there are no selectors.
func (s *selection) all() bool { return s.labels.Empty() && len(s.fields) == 0 }

func (s *selection) matches(o *store.Object) bool {
	if s.namespace != "" && o.Key.Namespace != s.namespace {
		return false
	}
	return (s.labels.Empty() || s.labels.Matches(o.Labels)) &&
		(len(s.fields) == 0 || s.fields.Matches(func(field string) string { return fieldOf(o, field) }))
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

// Get returns an object: the latest state, or with a resourceVersion one that is at least as new.
func (r *Registry) Get(t Target, o api.GetOptions) (*store.Object, error) {
	asked, err := queryVersion(o.ResourceVersion)
	if err != nil {
		return nil, resources.Unclassified(err.Error())
	}
	if o.ResourceVersion == "" {
		object, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, t.notFound()
		}
		return object, nil
	}
	view, err := r.cached(t, asked)
	if err != nil {
		return nil, err
	}
	object, ok := view.Get(t.key())
	if !ok {
		return nil, t.notFound()
	}
	return object, nil
}

// cached returns the state that a lagging replica would serve. It returns an error if the replica
// has not reached atLeast.
func (r *Registry) cached(t Target, atLeast uint64) (*store.View, error) {
	at := r.reached()
	if atLeast > at {
		return nil, resources.TooLargeVersion(atLeast, at)
	}
	view, err := r.collection(t).View(at)
	if err != nil {
		// The history does not reach back that far.
		view, err = r.collection(t).View(0)
	}
	return view, r.storeError(t, err)
}

// reached returns the version up to which the simulated replica has caught up.
func (r *Registry) reached() uint64 {
	version := r.store.Version()
	if r.config.Lag == nil {
		return version
	}
	return version - min(r.config.Lag(), version-1)
}

// queryVersion parses the resourceVersion of a read: "" and "0" are 0.
func queryVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", text, err)
	}
	return version, nil
}

// continueToken is the position of the next page of a list. It is opaque to clients.
type continueToken struct {
	Format string `json:"v"`
	// Version is the version of the first page, or -1 for the latest. A client gets -1 after the
	// history was compacted.
	Version int64 `json:"rv"`
	// Start is the key after the last one of the previous page.
	Start string `json:"start"`
}

const (
	tokenFormat = "meta.k8s.io/v1"
	// inconsistent is the version of tokens that continue with the latest state.
	inconsistent = -1
)

func (t continueToken) String() string {
	data, _ := json.Marshal(t) // cannot fail
	return base64.RawURLEncoding.EncodeToString(data)
}

// after returns the key before the page. Tokens of a list of one namespace may omit the namespace.
func (t continueToken) after(namespace string) store.Key {
	start := strings.TrimSuffix(strings.TrimPrefix(t.Start, "/"), "\x00")
	if before, name, found := strings.Cut(start, "/"); found {
		return store.Key{Namespace: before, Name: name}
	}
	return store.Key{Namespace: namespace, Name: start}
}

func parseToken(text string) (continueToken, error) {
	var token continueToken
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &token)
	}
	if err == nil && token.Format != tokenFormat {
		err = fmt.Errorf("server does not recognize this encoded version %s", token.Format)
	}
	if err != nil {
		return token, resources.BadRequest("invalid continue token: continue key is not valid: " + err.Error())
	}
	return token, nil
}

// tooOld returns the 410 for a token whose version is compacted. It carries another token, with
// which the client may read the rest in its latest state.
func (t continueToken) tooOld() error {
	err := resources.Expired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response " +
		"to retrieve the remainder of the results. Continuing with the provided token results in an " +
		"inconsistent list - objects that were created, modified, or deleted between the time the first chunk " +
		"was returned and now may show up in the list.")
	t.Version = inconsistent
	err.Status.Continue = t.String()
	return err
}

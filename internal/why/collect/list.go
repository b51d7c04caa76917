package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"orrery/internal/why"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// query selects a collection, or a part of one.
type query struct {
	gvr            api.GroupVersionResource
	namespace      string // empty: of all
	labels, fields string // selectors
}

func (q query) options() api.ListOptions {
	return api.ListOptions{LabelSelector: q.labels, FieldSelector: q.fields, Limit: pageSize}
}

// String returns the method and the path of the list, as in kubectl get --raw.
func (q query) String() string {
	path := "/api/" + q.gvr.Version
	if q.gvr.Group != "" {
		path = "/apis/" + q.gvr.Group + "/" + q.gvr.Version
	}
	if q.namespace != "" {
		path += "/namespaces/" + q.namespace
	}
	options, err := url.QueryUnescape(q.options().Query().Encode())
	if err != nil {
		panic(err) // it was encoded in the same line
	}
	return "GET " + path + "/" + q.gvr.Resource + "?" + options
}

// failure describes why the list failed, nil if err is.
func (q query) failure(err error) *why.Failure {
	return failure(q.String(), "list "+q.gvr.TypeName(), err)
}

// The limits of a list: how many objects are in a page, and how many pages are read of one type in
// a namespace and of a collection of the cluster.
const (
	pageSize     = 500
	maxPages     = 200
	clusterPages = 20
)

// errTooLong: a list has more pages than were to be read.
var errTooLong = errors.New("the list has too many pages")

// list reads a collection of the cluster. read appends what it keeps of an object, and does nothing
// else: with several namespaces an answer is kept for all. T has the fields that are read, or is
// *api.PartialObjectMetadata for a list of metadata. An incomplete list proves nothing and counts
// as failed.
func list[T restclient.Object, E any](
	ctx context.Context, c *collector, q query, read func(kept []E, object T) []E,
) (answer why.Answer[E]) {
	answer.Request = q.String()
	key := fmt.Sprintf("%T %s", read, answer.Request)
	if known, ok := c.answers.Load(key); ok {
		return known.(why.Answer[E])
	}
	if c.many {
		defer func() { c.answers.Store(key, answer) }()
	}
	_, err := pages(ctx, c, q, clusterPages, func(object T) { answer.Items = read(answer.Items, object) })
	if err != nil {
		answer.Items = nil
	}
	answer.Failed = q.failure(err)
	return answer
}

// whole keeps an object as it was read.
func whole[T any](kept []T, object T) []T { return append(kept, object) }

// pages lists at most so many pages, and returns the metadata of the last one, with errTooLong if
// there are more. It calls read with each object.
func pages[T restclient.Object](
	ctx context.Context, c *collector, q query, most int, read func(object T),
) (api.ListMeta, error) {
	of, ok := any(restclient.Metadata(c.client, q.gvr, q.namespace)).(*restclient.Resource[T])
	if !ok {
		of = restclient.Typed[T](c.client, q.gvr, q.namespace)
	}
	options := q.options()
	for number := 1; ; number++ {
		var page *api.List[T]
		err := c.attempt(ctx, func(ctx context.Context) (err error) {
			page, err = of.List(ctx, options)
			return err
		})
		if err != nil {
			return api.ListMeta{}, err
		}
		for _, object := range page.Items {
			read(object)
		}
		switch options.Continue = page.Continue; {
		case page.Continue == "":
			return page.ListMeta, nil
		case number == most:
			return page.ListMeta, errTooLong
		}
	}
}

// joined lists resources at the same time and makes one answer of theirs: the request of the first,
// all items, and the first failure.
func joined[E any](list func(resource string) why.Answer[E], resources ...string) (all why.Answer[E]) {
	answers := each(resources, list)
	all.Request = answers[0].Request
	for _, answer := range answers {
		all.Items, all.Failed = append(all.Items, answer.Items...), cmp.Or(all.Failed, answer.Failed)
	}
	return all
}

// errTooMany is the error of a request that was not sent.
var errTooMany = errors.New("the limit of requests (--max-requests) was reached")

// attempt sends a request. It sends it once more if the server asks to retry later. send must use
// the context that it gets.
func (c *collector) attempt(ctx context.Context, send func(ctx context.Context) error) error {
	for again := true; ; again = false {
		if err := c.take(1); err != nil {
			return err
		}
		c.slots <- struct{}{}
		bounded, cancel := context.WithTimeout(api.WithSingleAttempt(ctx), requestTimeout)
		err := send(bounded)
		cancel()
		<-c.slots
		if ctx.Err() != nil {
			c.leaveOut(errors.New("the time limit (--timeout) was reached"))
			return err
		}
		refused, ok := errors.AsType[*api.StatusError](err)
		if !ok || refused.Status.Code != http.StatusTooManyRequests {
			return err
		}
		if !again || wait.Sleep(ctx, min(max(refused.RetryAfter, 100*time.Millisecond), requestTimeout)) != nil {
			return err
		}
	}
}

// do sends a request as attempt does, and decodes the answer.
func (c *collector) do(ctx context.Context, request restclient.Request, into any) error {
	return c.attempt(ctx, func(ctx context.Context) error { return c.client.Do(ctx, request, into) })
}

// take counts requests that are about to be sent. It fails if they exceed the limit.
func (c *collector) take(requests int64) error {
	if int(c.requests.Add(requests)) > c.options.MaxRequests-c.reserved {
		c.requests.Add(-requests)
		c.leaveOut(errTooMany)
		return errTooMany
	}
	return nil
}

// leaveOut records why the evidence is incomplete.
func (c *collector) leaveOut(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cmp.Or(c.cut, err.Error())
}

// failure describes a failed request. right is the right that a 403 means: "list nodes".
func failure(request, right string, err error) *why.Failure {
	if err == nil {
		return nil
	}
	f := &why.Failure{Request: request, Code: api.CodeOf(err), Message: err.Error()}
	if refused, ok := errors.AsType[*api.StatusError](err); ok {
		f.Message = refused.Error()
	}
	if broken, ok := errors.AsType[*restclient.TransportError](err); ok {
		f.Message = broken.Sentence()
	}
	if f.Code == http.StatusForbidden {
		f.Right = right
	}
	f.Message = restclient.Redact(f.Message)
	return f
}

// parallel runs functions at the same time and returns when all have returned. The collector
// bounds how many of their requests run.
func parallel(functions ...func()) {
	var running sync.WaitGroup
	for _, function := range functions {
		running.Go(function)
	}
	running.Wait()
}

// each reads something of every item, all at the same time.
func each[E, A any](items []E, read func(E) A) []A {
	answers := make([]A, len(items))
	var reads []func()
	for i, item := range items {
		reads = append(reads, func() { answers[i] = read(item) })
	}
	parallel(reads...)
	return answers
}

// condition is an entry of an object's status.
type condition struct {
	Type    string   `json:"type"`
	Status  string   `json:"status"`
	Reason  string   `json:"reason"`
	Message string   `json:"message"`
	Since   api.Time `json:"lastTransitionTime"`
}

type conditions []condition

// get returns the condition of a type, the zero value without it.
func (all conditions) get(conditionType string) condition {
	for _, one := range all {
		if one.Type == conditionType {
			return one
		}
	}
	return condition{}
}

// later returns the later one of two times, in UTC.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b.UTC()
	}
	return a.UTC()
}

// content is wave 1: every type that the deleter would empty. Each is listed once for all
// namespaces. A list for one namespace is limited to it.
func content(ctx context.Context, all ...*collector) {
	c := all[0]
	var deleted time.Time
	for _, one := range all {
		deleted = later(deleted, one.evidence.Namespace.Deleted)
	}
	looked := nsctl.Looked{DiscoveryErr: c.take(discoveryRequests)}
	if looked.DiscoveryErr == nil {
		types := discovery.NewCached(discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true}))
		ctx := api.WithSingleAttempt(ctx)
		looked = nsctl.Look(ctx, types, deleted, func(ctx context.Context, r nsctl.DeletableResource) error {
			for _, s := range read(ctx, r.GVR, maxPages, all...) {
				s.c.mu.Lock()
				s.c.evidence.Types = append(s.c.evidence.Types, s.t)
				s.c.evidence.Pods = append(s.c.evidence.Pods, s.pods...)
				s.c.mu.Unlock()
			}
			return nil
		})
	}
	for _, one := range all {
		e := &one.evidence
		e.Discovery = undiscovered(looked.DiscoveryErr)
		for _, r := range looked.Resources {
			if !r.CanList {
				e.Types = append(e.Types, typeOf(r.GVR))
			}
		}
	}
}

func typeOf(gvr api.GroupVersionResource) why.Type {
	return why.Type{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource}
}

// discoveryRequests is how many requests one discovery takes: readiness, /api and /apis.
const discoveryRequests = 3

func undiscovered(err error) why.Discovery {
	d := why.Discovery{Request: "GET /apis"}
	partly, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if !ok {
		d.Refused = failure(d.Request, "get /apis", err)
		return d
	}
	d.Failed = map[string]string{}
	for gv, err := range partly.Groups {
		d.Failed[gv.String()] = err.Error()
	}
	return d
}

// shelf has the content of one type in one namespace.
type shelf struct {
	c    *collector
	t    why.Type
	kept keeper
	pods []why.Pod
}

// read lists a type, at most so many pages, and returns what each namespace has of it. A list of
// only the first page has the metadata of pods. If the server fails, each namespace is listed
// alone: the fault may be that of one of them.
func read(ctx context.Context, gvr api.GroupVersionResource, most int, all ...*collector) (shelves []*shelf) {
	q := query{gvr: gvr}
	if len(all) == 1 {
		q.namespace = all[0].evidence.Name
	}
	for _, c := range all {
		t := typeOf(gvr)
		t.Request = q.String()
		shelves = append(shelves, &shelf{c: c, t: t, kept: keeper{deleted: c.evidence.Namespace.Deleted}})
	}
	of := func(namespace string) *shelf {
		at := slices.IndexFunc(shelves, func(s *shelf) bool { return s.c.evidence.Name == namespace })
		if at < 0 {
			return &shelf{} // of a namespace that is not examined
		}
		return shelves[at]
	}
	var last api.ListMeta
	var err error
	if gvr == api.PodsResource && most > 1 {
		last, err = pages(ctx, all[0], q, most, func(o *object) { of(o.Namespace).addPod(o) })
	} else {
		last, err = pages(ctx, all[0], q, most,
			func(o *api.PartialObjectMetadata) { of(o.Namespace).add(&o.ObjectMeta) })
	}
	if api.CodeOf(err) >= http.StatusInternalServerError && len(all) > 1 {
		shelves = nil
		for _, c := range all {
			shelves = append(shelves, read(ctx, gvr, most, c)...)
		}
		return shelves
	}
	for _, s := range shelves {
		s.t.Objects = s.kept.objects()
		switch {
		case !errors.Is(err, errTooLong):
			s.t.Failed = q.failure(err)
			continue
		case len(all) == 1 && last.RemainingItemCount != nil:
			s.t.Count += int(*last.RemainingItemCount)
		default:
			s.t.More = true
		}
		s.t.Partial = most == 1
	}
	return shelves
}

// add counts an object and keeps its head. It returns the head.
func (s *shelf) add(m *api.ObjectMeta) why.Object {
	o, t := objectOf(m), &s.t
	t.Count++
	for _, finalizer := range o.Finalizers {
		if t.Finalizers == nil {
			t.Finalizers = map[string]int{}
		}
		t.Finalizers[finalizer]++
	}
	s.kept.add(o)
	return o
}

func (s *shelf) addPod(o *object) {
	head := s.add(&o.ObjectMeta)
	if len(s.pods) < why.MaxKept {
		s.pods = append(s.pods, podOf(o, head))
	}
}

func objectOf(m *api.ObjectMeta) why.Object {
	o := why.Object{
		Name:            m.Name,
		UID:             m.UID,
		ResourceVersion: m.ResourceVersion,
		Created:         m.CreationTimestamp.UTC(),
		Finalizers:      m.Finalizers,
		Owners:          m.OwnerReferences,
	}
	if m.DeletionTimestamp != nil {
		o.Deleted = m.DeletionTimestamp.UTC()
	}
	return o
}

// keeper keeps the heads of at most why.MaxKept objects of a type: first those with a finalizer,
// which block, and then those that are younger than the deletion.
type keeper struct {
	deleted                 time.Time
	blockers, young, others []why.Object
}

func (k *keeper) add(o why.Object) {
	kept := &k.others
	switch {
	case len(o.Finalizers) > 0:
		kept = &k.blockers
	case o.Created.After(k.deleted):
		kept = &k.young
	}
	if len(*kept) < why.MaxKept {
		*kept = append(*kept, o)
	}
}

// lastWrite returns when an object was last written, with or without its status; the zero time if
// that is not known.
func lastWrite(fields api.ManagedFields, status bool) (last time.Time) {
	entries, _ := fields.Entries() // none if they are malformed
	for _, entry := range entries {
		if entry.Time != nil && (status || entry.Subresource != "status") {
			last = later(last, entry.Time.Time)
		}
	}
	return last
}

func (k *keeper) objects() []why.Object {
	all := slices.Concat(k.blockers, k.young, k.others)
	return slices.Clip(all[:min(len(all), why.MaxKept)])
}

// second is wave 2: it reads again what may have changed.
func (c *collector) second(ctx context.Context) {
	e := &c.evidence
	namespace, at, failed, err := c.namespace(ctx)
	if err != nil || failed != nil && failed.Code != 404 {
		if err != nil {
			failed = failure("", "", err)
		}
		c.leaveOut(errors.New("the second sample failed: " + failed.Message))
		return
	}
	s := &why.Sample{At: at, Namespace: namespace}
	e.Second = s
	if namespace == nil || namespace.UID != e.Namespace.UID {
		s.Namespace = nil
		return
	}
	var reads []func()
	if len(e.Discovery.Failed) > 0 || namespace.Condition(api.NamespaceDeletionDiscoveryFailure) != "" {
		reads = append(reads, func() {
			err := c.take(discoveryRequests)
			if err == nil {
				types := discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true})
				_, err = types.ServerPreferredNamespacedResources(api.WithSingleAttempt(ctx))
			}
			again := undiscovered(err)
			s.Discovery = &again
		})
	}
	for _, t := range e.Types {
		broken := t.Failed != nil && t.Failed.Code == http.StatusInternalServerError // it may have been repaired
		if !broken && (t.Count == 0 || t.Failed != nil) {
			continue
		}
		reads = append(reads, func() {
			for _, again := range read(ctx, t.GVR(), 1, c) {
				c.mu.Lock()
				s.Types = append(s.Types, again.t)
				c.mu.Unlock()
			}
		})
	}
	parallel(reads...)
	slices.SortFunc(s.Types, func(a, b why.Type) int { return cmp.Compare(a.Name(), b.Name()) })
}

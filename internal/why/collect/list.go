package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
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
	_, err := pages(ctx, c, q, clusterPages, func() { answer.Items = nil }, func(object T) {
		answer.Items = read(answer.Items, object)
	})
	if err != nil {
		answer.Items = nil
	}
	answer.Failed = q.failure(err)
	return answer
}

// whole keeps an object as it was read.
func whole[T any](kept []T, object T) []T { return append(kept, object) }

// pages lists at most so many pages, and returns the metadata of the last one, with errTooLong if
// there are more. It calls start before the first page, and read with each object. If a continue
// token expires, it starts over once.
func pages[T restclient.Object](
	ctx context.Context, c *collector, q query, most int, start func(), read func(object T),
) (api.ListMeta, error) {
	of, ok := any(restclient.Metadata(c.client, q.gvr, q.namespace)).(*restclient.Resource[T])
	if !ok {
		of = restclient.Typed[T](c.client, q.gvr, q.namespace)
	}
	options, expired := q.options(), false
	start()
	for number := 1; ; number++ {
		var page *api.List[T]
		err := c.attempt(ctx, func(ctx context.Context) (err error) {
			page, err = of.List(ctx, options)
			return err
		})
		if options.Continue != "" && api.IsExpired(err) && !expired {
			options.Continue, expired, number = "", true, 0
			start()
			continue
		}
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
	answers := make([]why.Answer[E], len(resources))
	var reads []func()
	for i, resource := range resources {
		reads = append(reads, func() { answers[i] = list(resource) })
	}
	parallel(reads...)
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

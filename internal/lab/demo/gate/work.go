package gate

import (
	"net/http"
	"path"
	"regexp"

	"orrery/queue"
	"orrery/restclient"
)

// WorkQueue is the constructor of a work queue, as nsctl.Config and controller.PoolConfig have it.
type WorkQueue = func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]

// HoldQueue returns a constructor of work queues with gates: G5 after Get, G7 before Done. name
// names the queue in items.
func HoldQueue(g *Gates, name string, newQueue WorkQueue) WorkQueue {
	if g == nil {
		return newQueue
	}
	return func(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
		g.wire(G5, G7)
		return &heldQueue{newQueue(limiter, config), newLine(g, name)}
	}
}

type heldQueue struct {
	queue.ObservableInterface[string]
	*line
}

func (q *heldQueue) Get() (key string, shutdown bool) {
	key, shutdown = q.ObservableInterface.Get()
	if !shutdown {
		q.hold(Item{Gate: G5, Key: key, Failures: q.NumRequeues(key)})
	}
	return key, shutdown
}

func (q *heldQueue) Done(key string) {
	q.hold(Item{Gate: G7, Key: key, Failures: q.NumRequeues(key)})
	q.ObservableInterface.Done(key)
}

// ShutDown ends all waiting: the workers have to end.
func (q *heldQueue) ShutDown() {
	q.end()
	q.ObservableInterface.ShutDown()
}

// ShutDownWithDrain ends all waiting: a key that waits would never be done.
func (q *heldQueue) ShutDownWithDrain() {
	q.end()
	q.ObservableInterface.ShutDownWithDrain()
}

// HoldRequests returns the configuration of a client whose requests wait at G6, each attempt of
// them, without a time limit. Discovery passes, which has a time limit of its own.
func HoldRequests(g *Gates, config restclient.Config) restclient.Config {
	if g == nil {
		return config
	}
	g.wire(G6)
	wrapped := config.WrapTransport
	config.Timeout, config.SilenceTimeout = -1, -1
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		if wrapped != nil {
			next = wrapped(next)
		}
		return heldTransport{next, g}
	}
	return config
}

type heldTransport struct {
	http.RoundTripper
	gates *Gates
}

func (t heldTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if item, ok := itemOf(request); ok {
		_ = t.gates.Wait(request.Context(), item) // the next transport notices the end of the context
	}
	return t.RoundTripper.RoundTrip(request)
}

// resourcePath has the namespace, the resource, the name and the subresource of a request as groups.
var resourcePath = regexp.MustCompile(
	`^/(?:api|apis/[^/]+)/[^/]+/(?:namespaces/([^/]+)/)??([^/]+)(?:/([^/]+))?(?:/(status|finalize))?$`)

// verbs are the verbs of Kubernetes by method.
var verbs = map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

// itemOf describes a request; ok is false if it is about no resource.
func itemOf(request *http.Request) (item Item, ok bool) {
	parts := resourcePath.FindStringSubmatch(request.URL.Path)
	if parts == nil {
		return item, false
	}
	item = Item{Gate: G6, Verb: verbs[request.Method], Resource: parts[2], Key: path.Join(parts[1], parts[3])}
	switch {
	case parts[3] != "":
	case request.URL.Query().Has("watch"):
		item.Verb = "watch"
	case item.Verb == "get":
		item.Verb = "list"
	case item.Verb == "delete":
		item.Verb = "deletecollection"
	}
	return item, true
}

package nsctltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// world is a cluster with faults between it and the deleter, whose clients it is. Each request
// takes effect at one instant. Then, as the seed decides, its answer is lost, refused, delayed or
// wrong. At each step the world checks the properties. The random numbers of a request depend on
// the request and on how often it was made, not on a common source. So they are the same in each
// run of a seed, in whatever order the goroutines run.
type world struct {
	cluster *Cluster
	seed    uint64
	odds    int // one request in odds is refused, one lost, and one in four times as many is slow

	// The clients of the cluster, without faults. Their requests are calls of its handler.
	namespaces nsctl.NamespaceClient
	content    nsctl.ContentClient
	discovery  nsctl.Discovery

	mu         sync.Mutex // guards the fields below, and makes each request and each event one step
	hostile    bool       // whether requests may fail
	steps      int
	asked      map[string]uint64    // number of times each request was made
	forbidden  string               // the resource that may not be listed, if any
	born       int                  // number of objects ever created; makes names unique
	deletedAt  map[string]time.Time // by UID
	violations []string
}

const worldGrace = 5 * time.Second // the grace period, in which servers may not know of a deletion yet

func newWorld(t *testing.T, seed uint64) *world {
	c := NewCluster()
	c.Types = map[string][]string{
		"v1": {"configmaps", "pods", "secrets", "services"}, "apps/v1": {"deployments"},
		"odd.example/v1": {"blind"}, "far.example/v1": {"things"}, movedFrom: {"gadgets"},
	}
	c.Verbs = map[string][]string{
		"services.":         {"create", "delete", "get", "list"},
		"blind.odd.example": {"create", "delete", "deletecollection"},
	}
	client, err := restclient.New(restclient.Config{
		Host: "http://cluster.test", QPS: -1, MaxRetries: -1,
		WrapTransport: func(http.RoundTripper) http.RoundTripper { return direct{c} },
	})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	clients := deleterConfig(client)
	return &world{
		cluster: c, seed: seed, odds: []int{10, 20, 40, 100}[seed%4], hostile: true,
		namespaces: clients.Namespaces, content: clients.Content, discovery: clients.Discovery,
		asked: map[string]uint64{}, deletedAt: map[string]time.Time{},
	}
}

// direct is a transport without a connection: it calls the server's handler.
type direct struct{ server http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	received := r.Clone(r.Context())
	if received.Body == nil {
		received.Body = http.NoBody
	}
	answered := httptest.NewRecorder()
	d.server.ServeHTTP(answered, received)
	return answered.Result(), received.Body.Close()
}

// draw returns random numbers that depend on a request and on how often it was made.
func (w *world) drawLocked(what string) *rand.Rand {
	w.asked[what]++
	hash := fnv.New64a()
	hash.Write([]byte(what))
	return rand.New(rand.NewPCG(w.seed, hash.Sum64()+w.asked[what]))
}

// passKey is the context key of the namespace that a request is made for.
type passKey struct{}

// passContext starts passes one after the other; two at the same instant would have no fixed order.
func (w *world) passContext(ctx context.Context, namespace string) context.Context {
	w.mu.Lock()
	pause := time.Duration(w.drawLocked("pass of " + namespace).IntN(1_000_000))
	w.mu.Unlock()
	time.Sleep(pause)
	return context.WithValue(ctx, passKey{}, namespace)
}

var errLost = fmt.Errorf("the answer was lost: %w", io.ErrUnexpectedEOF)

// ask makes one request; it calls execute with the mutex held.
func ask[T any](ctx context.Context, w *world, what string, execute func() (T, error)) (answer T, err error) {
	w.mu.Lock()
	r := w.drawLocked(fmt.Sprint(what, " for ", ctx.Value(passKey{})))
	takes := time.Duration(r.Int64N(int64(20*time.Millisecond))) + 1
	before, lost := error(nil), false
	if w.hostile {
		if r.IntN(4*w.odds) == 0 {
			takes += time.Duration(r.Int64N(int64(10 * time.Second)))
		}
		switch r.IntN(w.odds) {
		case 0:
			before = refusals[r.IntN(len(refusals))]
		case 1:
			lost = true
		}
	}
	w.mu.Unlock()

	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps++
	if before != nil {
		return answer, before
	}
	got, err := execute()
	if lost {
		err = errLost
	}
	if err != nil {
		return answer, err
	}
	return got, nil
}

var (
	errForbidden = api.NewStatusError(*Status(403, api.ReasonForbidden, "forbidden"))
	errDown      = api.NewStatusError(*Status(503, api.ReasonServiceUnavailable, "not now"))

	refusals = []error{
		errForbidden, errDown,
		api.NewStatusError(*Status(404, api.ReasonNotFound, "the server could not find the requested resource")),
		api.NewStatusError(*Status(405, api.ReasonMethodNotAllowed, "not allowed")),
		api.NewStatusError(*Status(409, api.ReasonConflict, "conflict")),
		api.NewStatusError(*Status(429, api.ReasonTooManyRequests, "not so fast")),
		api.NewStatusError(*Status(500, api.ReasonInternalError, "out of order")),
		io.ErrUnexpectedEOF, errors.New("connection reset"),
	}
)

func (w *world) violatedLocked(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// Namespaces.

func (w *world) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error) {
	return ask(ctx, w, "get "+name, func() (*api.Namespace, error) { return w.namespaces.Get(ctx, name, opts) })
}

func (w *world) UpdateStatus(ctx context.Context, sent *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error) {
	return ask(ctx, w, "status "+sent.Name, func() (*api.Namespace, error) {
		return w.namespaces.UpdateStatus(ctx, sent, opts)
	})
}

func (w *world) UpdateSubresource(
	ctx context.Context, name, subresource string, sent *api.Namespace, opts api.UpdateOptions,
) (*api.Namespace, error) {
	return ask(ctx, w, subresource+" "+name, func() (*api.Namespace, error) {
		before, left := w.cluster.Namespace(name), w.cluster.Left(name)
		written, err := w.namespaces.UpdateSubresource(ctx, name, subresource, sent, opts)
		holds := func(ns *api.Namespace) bool { return slices.Contains(ns.Spec.Finalizers, api.FinalizerKubernetes) }
		if err == nil && holds(before) && !holds(sent) && len(left) > 0 {
			w.violatedLocked("namespace %s was finalized although it holds %v", name, left)
		}
		return written, err
	})
}

// Discovery.

func (w *world) PreferredNamespacedResources(
	ctx context.Context, notOlderThan time.Time,
) (lists []*api.APIResourceList, err error) {
	var incomplete error // which comes beside the answer
	lists, err = ask(ctx, w, "discover", func() (lists []*api.APIResourceList, _ error) {
		w.discovery.Invalidate()
		lists, incomplete = w.discovery.PreferredNamespacedResources(ctx, notOlderThan)
		if w.hostile && w.drawLocked(fmt.Sprint("upgrade ", ctx.Value(passKey{}))).IntN(8) == 0 {
			w.moveLocked() // the previous answer is out of date
		}
		return lists, nil
	})
	if err != nil {
		return nil, err
	}
	return lists, incomplete
}

func (w *world) Invalidate() {}

// The group versions between which a type moves.
const movedFrom, movedTo = "moving.example/v1", "moving.example/v1beta1"

// moveLocked serves gadgets only at the other version, as after an upgrade. The objects stay.
func (w *world) moveLocked() {
	from, to := movedFrom, movedTo
	if len(w.cluster.Types[from]) == 0 {
		from, to = to, from
	}
	w.cluster.Undefine(from)
	w.cluster.Define(to, "gadgets")
}

// worldContent is the world as a ContentClient. (A namespace client has another Delete.)
type worldContent struct{ *world }

// heads are objects' metadata.
type heads = []*api.PartialObjectMetadata

// inCollection is a request for one type in one namespace; "" means all.
func inCollection[T any](
	ctx context.Context, w worldContent, verb string, gvr api.GroupVersionResource, namespace string,
	execute func() (T, error),
) (T, error) {
	return ask(ctx, w.world, verb+" "+gvr.Resource+" "+namespace, func() (none T, _ error) {
		switch {
		case slices.Contains(w.cluster.Stale, gvr.GroupVersion().String()):
			return none, errDown
		case verb == "list" && gvr.Resource == w.forbidden:
			return none, errForbidden
		}
		return execute()
	})
}

// checkLocked checks a deletion; left is what the namespace held before.
func (w worldContent) checkLocked(gvr api.GroupVersionResource, namespace string, left []string, deleted heads) {
	ns := w.cluster.Namespace(namespace)
	for _, object := range deleted {
		if ns == nil || ns.DeletionTimestamp == nil {
			w.violatedLocked("%s %s was deleted, but namespace %s is not terminating", gvr.Resource, object.Name,
				namespace)
		}
		isPod := func(held string) bool { return strings.HasPrefix(held, "pods./") }
		if gvr != api.PodsResource && slices.ContainsFunc(left, isPod) {
			w.violatedLocked("%s %s was deleted, but namespace %s has pods: %v", gvr.Resource, object.Name,
				namespace, left)
		}
	}
}

func (w worldContent) DeleteCollection(
	ctx context.Context, gvr api.GroupVersionResource, namespace string,
) (heads, bool, error) {
	type answer struct {
		found  heads
		listed bool
	}
	a, err := inCollection(ctx, w, "deletecollection", gvr, namespace, func() (a answer, err error) {
		left := w.cluster.Left(namespace)
		a.found, a.listed, err = w.content.DeleteCollection(ctx, gvr, namespace)
		w.checkLocked(gvr, namespace, left, a.found)
		// The answer may be a bare Status, or the first page only. A type that cannot be listed always
		// answers completely, because nothing else shows its content.
		if w.drawLocked("answer "+gvr.Resource+" "+namespace).IntN(4) == 0 && gvr.Resource != "blind" {
			a = answer{}
		}
		return a, err
	})
	return a.found, a.listed, err
}

func (w worldContent) List(ctx context.Context, gvr api.GroupVersionResource, namespace string) (heads, error) {
	return inCollection(ctx, w, "list", gvr, namespace, func() (heads, error) {
		return w.content.List(ctx, gvr, namespace)
	})
}

// Pages returns pages of two objects. Between them the other passes go on.
func (w worldContent) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func(heads) error,
) error {
	found, err := w.List(ctx, gvr, namespace)
	if err != nil {
		return err
	}
	for page := range slices.Chunk(found, 2) {
		if err := each(page); err != nil {
			return err
		}
	}
	return nil
}

func (w worldContent) ListPods(ctx context.Context, namespace string) ([]*api.Pod, error) {
	return inCollection(ctx, w, "list", api.PodsResource, namespace, func() ([]*api.Pod, error) {
		return w.content.ListPods(ctx, namespace)
	})
}

func (w worldContent) Holders(
	ctx context.Context, gvr api.GroupVersionResource,
) (holders map[string]bool, complete bool, err error) {
	holders, err = inCollection(ctx, w, "list", gvr, "", func() (found map[string]bool, err error) {
		found, complete, err = w.content.Holders(ctx, gvr)
		return found, err
	})
	return holders, complete && err == nil, err
}

func (w worldContent) Delete(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, object *api.PartialObjectMetadata,
) error {
	_, err := inCollection(ctx, w, "delete", gvr, namespace, func() (none struct{}, err error) {
		left := w.cluster.Left(namespace)
		if err = w.content.Delete(ctx, gvr, namespace, object); err == nil {
			w.checkLocked(gvr, namespace, left, heads{object})
		}
		return none, err
	})
	return err
}

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

// world is a cluster with faults between it and the deleter, whose transport it is. Each request
// takes effect at one instant. Then, as the seed decides, its answer is lost, refused, delayed or
// wrong. At each step the world checks the properties. The random numbers of a request depend on
// the request and on how often it was made, not on a common source. So they are the same in each
// run of a seed, in whatever order the goroutines run.
type world struct {
	cluster *Cluster
	seed    uint64
	odds    int // one request in odds is refused, one lost, and one in four times as many is slow

	mu         sync.Mutex // guards the fields below, and makes each request and each event one step
	hostile    bool       // whether requests may fail
	steps      int
	asked      map[string]uint64    // number of times each request was made
	born       int                  // number of objects ever created; makes names unique
	deletedAt  map[string]time.Time // by UID
	violations []string
}

const worldGrace = 5 * time.Second // the grace period, in which servers may not know of a deletion yet

func newWorld(seed uint64) *world {
	c := NewCluster()
	c.Types = map[string][]string{
		"v1": {"configmaps", "pods", "secrets", "services"}, "apps/v1": {"deployments"},
		"odd.example/v1": {"blind"}, "far.example/v1": {"things"}, movedFrom: {"gadgets"},
	}
	c.Verbs = map[string][]string{
		"services.":         {"create", "delete", "get", "list"},
		"blind.odd.example": {"create", "delete", "deletecollection"},
	}
	return &world{cluster: c, seed: seed, odds: []int{10, 20, 40, 100}[seed%4], hostile: true,
		asked: map[string]uint64{}, deletedAt: map[string]time.Time{}}
}

// deleterConfig returns the configuration of a deleter whose requests go through the world.
func (w *world) deleterConfig(t *testing.T) nsctl.DeleterConfig {
	client, err := restclient.New(restclient.Config{
		Host: "http://cluster.test", QPS: -1, MaxRetries: -1,
		WrapTransport: func(http.RoundTripper) http.RoundTripper { return w },
	})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return deleterConfig(client)
}

// drawLocked returns random numbers that depend on a request and on how often it was made.
func (w *world) drawLocked(what string) *rand.Rand {
	w.asked[what]++
	hash := fnv.New64a()
	hash.Write([]byte(what))
	return rand.New(rand.NewPCG(w.seed, hash.Sum64()+w.asked[what]))
}

// passContext starts passes one after the other; two at the same instant would have no fixed order.
func (w *world) passContext(ctx context.Context, namespace string) context.Context {
	w.mu.Lock()
	pause := time.Duration(w.drawLocked("pass of " + namespace).IntN(1_000_000))
	w.mu.Unlock()
	time.Sleep(pause)
	return ctx
}

var (
	errDown = Status(503, api.ReasonServiceUnavailable, "not now")
	errLost = fmt.Errorf("the answer was lost: %w", io.ErrUnexpectedEOF)

	refusals = []any{
		errDown, Status(403, api.ReasonForbidden, "forbidden"),
		Status(404, api.ReasonNotFound, "the server could not find the requested resource"),
		Status(405, api.ReasonMethodNotAllowed, "not allowed"),
		Status(409, api.ReasonConflict, "conflict"),
		Status(429, api.ReasonTooManyRequests, "not so fast"),
		Status(500, api.ReasonInternalError, "out of order"),
		io.ErrUnexpectedEOF, errors.New("connection reset"),
	}
)

// RoundTrip makes one request.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	random := w.drawLocked(r.Method + " " + r.URL.Path)
	takes := time.Duration(random.Int64N(int64(20*time.Millisecond))) + 1
	var refusal any
	lost := false
	if w.hostile {
		if random.IntN(4*w.odds) == 0 {
			takes += time.Duration(random.Int64N(int64(10 * time.Second)))
		}
		switch random.IntN(w.odds) {
		case 0:
			refusal = refusals[random.IntN(len(refusals))]
		case 1:
			lost = true
		}
	}
	w.mu.Unlock()

	received := r.Clone(r.Context())
	if r.Body == nil {
		received.Body = http.NoBody
	}
	defer received.Body.Close()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps++
	if err, broken := refusal.(error); broken {
		return nil, err
	}
	answered := httptest.NewRecorder()
	if refusal != nil {
		answer(answered, refusal)
	} else {
		w.serveLocked(answered, received, random)
	}
	if lost {
		return nil, errLost
	}
	return answered.Result(), nil
}

// serveLocked lets a request take effect, and checks the properties.
func (w *world) serveLocked(answered *httptest.ResponseRecorder, r *http.Request, random *rand.Rand) {
	core := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/")
	core, path, named := strings.Cut(core, "/namespaces/")
	namespace, rest, _ := strings.Cut(path, "/")
	resource, name, _ := strings.Cut(rest, "/")
	if !named { // in all namespaces
		core, resource, _ = cutLast(core, "/")
	}
	ofNamespace := resource == "" || resource == "status" || resource == "finalize"
	if slices.Contains(w.cluster.Stale, core) && !ofNamespace {
		answer(answered, errDown)
		return
	}
	before, left := w.cluster.Namespace(namespace), w.cluster.Left(namespace)
	w.cluster.ServeHTTP(answered, r)
	switch {
	case answered.Code != http.StatusOK:
	case r.URL.Path == "/apis" && w.hostile && random.IntN(8) == 0:
		w.moveLocked() // the answer is out of date
	case resource == "finalize":
		holds := func(ns *api.Namespace) bool {
			return ns != nil && slices.Contains(ns.Spec.Finalizers, api.FinalizerKubernetes)
		}
		if holds(before) && !holds(w.cluster.Namespace(namespace)) && len(left) > 0 {
			w.violatedLocked("namespace %s was finalized although it holds %v", namespace, left)
		}
	case r.Method == http.MethodDelete && named:
		group, _, grouped := strings.Cut(core, "/")
		if !grouped {
			group = ""
		}
		w.checkLocked(resource+"."+group+"/"+name, namespace, before, left)
		// The answer may be a bare Status. A type that cannot be listed always answers completely,
		// because nothing else shows its content.
		if name == "" && resource != "blind" && random.IntN(4) == 0 {
			answered.Body.Reset()
			answer(answered, &api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status: api.StatusSuccess, Code: http.StatusOK})
		}
	}
}

// cutLast is strings.Cut at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// checkLocked checks a deletion of target, "resource.group/name", or of all names if there is none.
// ns and left are the namespace and its content before.
func (w *world) checkLocked(target, namespace string, ns *api.Namespace, left []string) {
	isPod := func(held string) bool { return strings.HasPrefix(held, "pods./") }
	for _, held := range left {
		if held != target && !(strings.HasSuffix(target, "/") && strings.HasPrefix(held, target)) {
			continue
		}
		if ns == nil || ns.DeletionTimestamp == nil {
			w.violatedLocked("%s was deleted, but namespace %s is not terminating", held, namespace)
		}
		if !isPod(held) && slices.ContainsFunc(left, isPod) {
			w.violatedLocked("%s was deleted, but namespace %s has pods: %v", held, namespace, left)
		}
	}
}

func (w *world) violatedLocked(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

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

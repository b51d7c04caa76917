package informer_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

var fastGears = fast.Gears[*api.Namespace]()

// sets are the sets of gears: the textbook, which is the zero value, the fast one, and the fast
// one with the coalescing processor.
var sets = map[string]informer.Gears[*api.Namespace]{
	"textbook":   {},
	"fast":       fastGears,
	"coalescing": coalescing[*api.Namespace](),
}

// namespaces is an informer of namespaces in a synctest bubble, with its source.
type namespaces struct {
	*informer.SharedIndexInformer[*api.Namespace]
	t      *testing.T
	source *informertest.FakeSource[*api.Namespace]
	cancel context.CancelFunc
	result chan error // what Run returned
}

// inBubble runs a test with an informer that is stopped with the test, if it was started.
func inBubble(t *testing.T, cfg informer.Config[*api.Namespace], test func(n *namespaces)) {
	synctest.Test(t, func(t *testing.T) {
		n := &namespaces{t: t, source: informertest.NewNamespaceSource(), result: make(chan error, 1)}
		if cfg.Name == "" {
			cfg.Name = "namespaces"
		}
		n.SharedIndexInformer = informer.NewSharedIndexInformer(n.source, cfg)
		test(n)
	})
}

// inEachBubble is inBubble with the textbook gears, and once more with the fast ones.
func inEachBubble(t *testing.T, cfg informer.Config[*api.Namespace], test func(n *namespaces)) {
	for _, name := range []string{"textbook", "fast"} {
		cfg.Gears = sets[name]
		t.Run(name, func(t *testing.T) { inBubble(t, cfg, test) })
	}
}

// start runs the informer and waits until it is idle.
func (n *namespaces) start() {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.result <- n.Run(ctx)
	}()
	n.t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
}

// stop stops the informer and returns the result of Run.
func (n *namespaces) stop() error {
	n.cancel()
	return <-n.result
}

// add creates a namespace on the server and waits until the informer has processed it.
func (n *namespaces) add(name string, labels ...string) {
	n.source.Add(informertest.Namespace(name, labels...))
	synctest.Wait()
}

func (n *namespaces) modify(name string, labels ...string) {
	n.source.Modify(informertest.Namespace(name, labels...))
	synctest.Wait()
}

func (n *namespaces) delete(name string) {
	n.source.Delete(name)
	synctest.Wait()
}

// log is a handler that records its events.
type log []string

func (l *log) OnAdd(obj *api.Namespace, initial bool) {
	*l = append(*l, "add "+obj.Name+map[bool]string{true: " (initial)"}[initial])
}

func (l *log) OnUpdate(_, obj *api.Namespace) { *l = append(*l, "update "+obj.Name) }

func (l *log) OnDelete(d informer.DeletedObject[*api.Namespace]) { *l = append(*l, "delete "+d.Key) }

// namespace returns a namespace without labels.
func namespace(name string) *api.Namespace { return informertest.Namespace(name) }

func (n *namespaces) handler() *log {
	l := &log{}
	n.register(l)
	return l
}

func (n *namespaces) register(h informer.ResourceEventHandler[*api.Namespace]) *informer.Registration {
	r, err := n.AddEventHandler(h)
	require.NoError(n.t, err)
	return r
}

// onAdd is a handler for additions only.
func onAdd(f func(obj *api.Namespace)) informer.ResourceEventHandler[*api.Namespace] {
	return informer.ResourceEventHandlerFuncs[*api.Namespace]{AddFunc: func(obj *api.Namespace, _ bool) { f(obj) }}
}

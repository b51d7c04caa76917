package served_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"orrery/informer"
	"orrery/internal/lab/chaos"
)

// watched is a shared informer with a handler, comparable with the server.
type watched struct {
	name      string
	streaming bool
	informer  cache.SharedIndexInformer
	lists     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	history   *chaos.History

	beginnings atomic.Int64 // lists, streaming or not
	streams    atomic.Int64 // streaming ones

	mu  sync.Mutex // guards err
	err error      // the reflector's last error
}

// observe returns an informer of a client's resource. selector is a label selector.
func observe[L runtime.Object](name string, streaming bool, example runtime.Object, selector string,
	list func(context.Context, metav1.ListOptions) (L, error),
	follow func(context.Context, metav1.ListOptions) (watch.Interface, error),
) *watched {
	w := &watched{name: name, streaming: streaming, history: chaos.NewHistory(name, selector != "", nil)}
	w.lists = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		options.LabelSelector = selector
		return list(ctx, options)
	}
	w.informer = cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			// The check of streaming lists lists at an exact version.
			if options.Continue == "" && options.ResourceVersionMatch != metav1.ResourceVersionMatchExact {
				w.beginnings.Add(1)
			}
			return w.lists(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			if options.SendInitialEvents != nil && *options.SendInitialEvents {
				w.beginnings.Add(1)
				w.streams.Add(1)
			}
			return follow(ctx, options)
		},
	}, example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	return w
}

// start runs the informer until the end of the test.
func (w *watched) start(t *testing.T) {
	t.Helper()
	_, err := w.informer.AddEventHandler(w.handler())
	require.NoError(t, err)
	require.NoError(t, w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector,
		err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err = err
	}))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { w.informer.RunWithContext(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func (w *watched) lastError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// compare lists the server's objects by a consistent read, and describes the differences of store
// and history from them.
func (w *watched) compare(ctx context.Context) error {
	listed, err := w.lists(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	list, err := meta.ExtractList(listed)
	if err != nil {
		return err
	}
	want, have := map[string]any{}, map[string]any{}
	for _, item := range list {
		want[keyOf(stated{item.(metav1.Object)})] = item
	}
	for _, key := range w.informer.GetStore().ListKeys() {
		have[key], _, _ = w.informer.GetStore().GetByKey(key)
	}
	all := maps.Clone(want)
	maps.Copy(all, have)
	for key := range all {
		if !equality.Semantic.DeepEqual(have[key], want[key]) {
			return fmt.Errorf("the store has %s as\n%v, the server has\n%v (last error: %v)",
				key, have[key], want[key], w.lastError())
		}
	}
	wrong := append(w.history.Violations(), w.history.Differences(statesOf(list))...)
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// handler returns a handler that remembers its notifications.
func (w *watched) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			o := stated{obj.(metav1.Object)}
			w.history.Added(keyOf(o), chaos.StateOf(o), initial)
		},
		UpdateFunc: func(old, obj any) {
			was, is := stated{old.(metav1.Object)}, stated{obj.(metav1.Object)}
			w.history.Updated(keyOf(is), chaos.StateOf(was), chaos.StateOf(is))
		},
		DeleteFunc: func(obj any) {
			tombstone, concluded := obj.(cache.DeletedFinalStateUnknown)
			if concluded {
				obj = tombstone.Obj
			}
			o := stated{obj.(metav1.Object)}
			w.history.Deleted(keyOf(o), chaos.StateOf(o), concluded)
		},
	}
}

// stated gives an object of client-go a history.
type stated struct{ metav1.Object }

func (s stated) GetUID() string { return string(s.Object.GetUID()) }

func keyOf(o informer.Object) string {
	key, _ := informer.MetaNamespaceKeyFunc(o) // every object on the server has a name
	return key
}

func statesOf(items []runtime.Object) map[string]chaos.State {
	states := map[string]chaos.State{}
	for _, item := range items {
		o := stated{item.(metav1.Object)}
		states[keyOf(o)] = chaos.StateOf(o)
	}
	return states
}

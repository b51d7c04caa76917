package served_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// document is a decoded JSON object.
type document map[string]any

// watched is a shared informer with a handler, comparable with the server.
type watched struct {
	name      string
	streaming bool
	informer  cache.SharedIndexInformer
	lists     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	history   history

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
	w := &watched{name: name, streaming: streaming}
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
	_, err := w.informer.AddEventHandler(&w.history)
	require.NoError(t, err)
	require.NoError(t, w.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
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

// list returns the server's objects by key, by a consistent read.
func (w *watched) list(ctx context.Context) (map[string]document, error) {
	list, err := w.lists(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	return documents(items)
}

// compare describes the differences of store and history from the server.
func (w *watched) compare(want map[string]document) error {
	var items []runtime.Object
	for _, item := range w.informer.GetStore().List() {
		items = append(items, item.(runtime.Object))
	}
	have, err := documents(items)
	if err != nil {
		return err
	}
	if err := difference(want, have); err != nil {
		return fmt.Errorf("the store: %w (last error: %v)", err, w.lastError())
	}
	replayed, err := w.history.objects()
	if err != nil {
		return err
	}
	if have, err = documents(replayed); err != nil {
		return err
	}
	if err := difference(want, have); err != nil {
		return fmt.Errorf("the handler: %w", err)
	}
	return nil
}

func difference(want, have map[string]document) error {
	for key, theirs := range want {
		ours, ok := have[key]
		if !ok {
			return fmt.Errorf("%s is missing; the server has %v", key, theirs)
		}
		if !reflect.DeepEqual(ours, theirs) {
			return fmt.Errorf("%s is\n%v, the server has\n%v", key, ours, theirs)
		}
	}
	for key := range have {
		if _, ok := want[key]; !ok {
			return fmt.Errorf("%s is not on the server", key)
		}
	}
	return nil
}

func documents(items []runtime.Object) (map[string]document, error) {
	all := make(map[string]document, len(items))
	for _, item := range items {
		key, err := cache.MetaNamespaceKeyFunc(item)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		var d document
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, err
		}
		all[key] = d
	}
	return all, nil
}

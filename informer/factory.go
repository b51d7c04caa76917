package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// SharedInformerFactory has one informer for each collection, shared by all callers that ask for it, and starts
// and stops them together. Get informers with [InformerFor]; methods cannot have type parameters.
//
// The zero value is ready to use. A factory must not be copied.
type SharedInformerFactory struct {
	// DefaultResync is given to the functions that make informers. Set it before the first [InformerFor].
	DefaultResync time.Duration

	running sync.WaitGroup

	mu        sync.Mutex // guards what follows
	informers []*keyedInformer
	shutDown  bool
}

// keyedInformer is one informer of a factory.
type keyedInformer struct {
	sharedInformer
	key    InformerKey
	cancel context.CancelFunc // stops it; nil before it was started
}

// InformerKey tells the informers of a factory apart: by what they hold and by what they are about. Two clients of
// one factory share an informer if both agree.
type InformerKey struct {
	Type     reflect.Type // of the objects, such as *api.Namespace
	Resource string       // such as "namespaces", or "pods.v1./kube-system"; anything that callers agree on
}

// String is meant for messages.
func (k InformerKey) String() string { return fmt.Sprintf("%s (%v)", k.Resource, k.Type) }

// sharedInformer is what a factory does with informers of any type.
type sharedInformer interface {
	Run(ctx context.Context) error
	waitSynced(ctx context.Context) error
}

// InformerFor returns the informer of f for objects of type T and this resource. If there is none yet it makes one
// with newInformer, which is given DefaultResync. The informer runs from the next Start on.
//
// This is the template method of the article: what is special about a resource is in newInformer, everything else
// is shared.
func InformerFor[T Object](f *SharedInformerFactory, resource string, newInformer func(defaultResync time.Duration) *SharedIndexInformer[T]) *SharedIndexInformer[T] {
	key := InformerKey{Type: reflect.TypeFor[T](), Resource: resource}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range f.informers {
		if known.key == key {
			return known.sharedInformer.(*SharedIndexInformer[T]) // the key contains the type
		}
	}
	made := newInformer(f.DefaultResync)
	f.informers = append(f.informers, &keyedInformer{sharedInformer: made, key: key})
	return made
}

// Start runs every informer that does not run yet, each on a goroutine of its own, until ctx ends or the factory
// is shut down. It may be called again when there are new informers. After Shutdown it returns
// [ErrFactoryShutDown].
func (f *SharedInformerFactory) Start(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shutDown {
		return ErrFactoryShutDown
	}
	for _, informer := range f.informers {
		if informer.cancel != nil {
			continue
		}
		informerCtx, cancel := context.WithCancel(ctx)
		informer.cancel = cancel
		f.running.Go(func() {
			defer cancel()
			// The only error is that the caller runs the informer already.
			_ = informer.Run(informerCtx)
		})
	}
	return nil
}

// WaitForCacheSync waits until every informer that was started, and every handler that had been added to it by
// then, has been told of its first list. It returns nil, or a [*NotSyncedError] if ctx or an informer ended before.
//
// Informers that have not been started are not waited for. client-go does not wait for handlers, which programs
// that look at what their handlers collected expect (kubernetes/kubernetes#136942).
func (f *SharedInformerFactory) WaitForCacheSync(ctx context.Context) error {
	failed := &NotSyncedError{}
	for _, informer := range f.startedInformers() {
		if err := informer.waitSynced(ctx); err != nil {
			failed.Informers = append(failed.Informers, informer.key)
			failed.Err = err
		}
	}
	if len(failed.Informers) == 0 {
		return nil
	}
	return failed
}

// waitSynced waits for the informer and for the handlers that it has when it has synced.
func (s *SharedIndexInformer[T]) waitSynced(ctx context.Context) error {
	if err := waitClosed(ctx, s.synced, s.ended); err != nil {
		return err
	}
	for _, h := range s.handlers.current() {
		err := waitClosed(ctx, h.registration.synced, h.registration.ended)
		if err != nil && !errors.Is(err, ErrStopped) { // a handler that was removed is not waited for
			return err
		}
	}
	return nil
}

func (f *SharedInformerFactory) startedInformers() []*keyedInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.informers), func(i *keyedInformer) bool { return i.cancel == nil })
}

// Shutdown stops the informers and returns when all their goroutines have ended, callbacks included. Nothing can
// be started afterwards. It may be called more than once.
//
// client-go's waits until the caller has stopped them.
func (f *SharedInformerFactory) Shutdown() {
	f.mu.Lock()
	f.shutDown = true
	for _, informer := range f.informers {
		if informer.cancel != nil {
			informer.cancel()
		}
	}
	f.mu.Unlock()
	f.running.Wait()
}

// NotSyncedError names the informers that did not sync in time.
type NotSyncedError struct {
	Informers []InformerKey // in the order of their creation
	Err       error         // why the wait ended: the error of the context, or ErrStopped
}

func (e *NotSyncedError) Error() string {
	names := make([]string, len(e.Informers))
	for i, key := range e.Informers {
		names[i] = key.String()
	}
	return fmt.Sprintf("caches that did not sync: %s: %v", strings.Join(names, ", "), e.Err)
}

func (e *NotSyncedError) Unwrap() error { return e.Err }

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

	"orrery/wait"
)

// SharedInformerFactory has one informer for each collection, shared by all callers, and starts and
// stops them together. Get informers with [InformerFor], a function because methods cannot have
// type parameters.
//
// The zero value is ready to use. A factory must not be copied.
type SharedInformerFactory struct {
	// DefaultResync is passed to the constructors of informers. Set it before the first
	// [InformerFor].
	DefaultResync time.Duration

	running sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	informers []*keyedInformer
	shutDown  bool
}

// keyedInformer is one informer of a factory.
type keyedInformer struct {
	sharedInformer
	key    informerKey
	cancel context.CancelFunc // stops it; nil before it was started
}

// informerKey identifies an informer of a factory. Two callers share an informer if both fields
// agree.
type informerKey struct {
	objects  reflect.Type // such as *api.Namespace
	resource string       // such as "namespaces" or "pods.v1./kube-system"; callers choose
}

// String returns the key as text for messages.
func (k informerKey) String() string { return fmt.Sprintf("%s (%v)", k.resource, k.objects) }

// sharedInformer has the methods of an informer of any type that a factory needs.
type sharedInformer interface {
	Run(ctx context.Context) error
	waitSynced(ctx context.Context) error
}

// InformerFor returns the informer of f for objects of type T and this resource. The first call
// creates it with newInformer, which receives DefaultResync. The next Start runs the informer.
//
// This is the template method of the article: newInformer has the specifics of a resource,
// everything else is shared.
func InformerFor[T Object](f *SharedInformerFactory, resource string,
	newInformer func(defaultResync time.Duration) *SharedIndexInformer[T]) *SharedIndexInformer[T] {
	key := informerKey{objects: reflect.TypeFor[T](), resource: resource}
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

// Start runs every informer that is not running yet, each on a goroutine of its own, until ctx ends
// or the factory is shut down. Call it again after adding informers. After Shutdown it returns
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
			// The only error is that the caller already runs the informer.
			_ = informer.Run(informerCtx)
		})
	}
	return nil
}

// WaitForCacheSync waits until every started informer has synced, and then the handlers that it
// has at that moment. It returns nil, or a [*NotSyncedError] if ctx or an informer ended first.
//
// It does not wait for informers that have not been started. client-go does not wait for handlers,
// although programs that use what their handlers collected expect it
// (kubernetes/kubernetes#136942).
func (f *SharedInformerFactory) WaitForCacheSync(ctx context.Context) error {
	failed := &NotSyncedError{}
	for _, informer := range f.startedInformers() {
		if err := informer.waitSynced(ctx); err != nil {
			failed.Informers = append(failed.Informers, informer.key.String())
			failed.Err = err
		}
	}
	if len(failed.Informers) == 0 {
		return nil
	}
	return failed
}

// waitSynced waits for the informer and then for its handlers at that time.
func (s *SharedIndexInformer[T]) waitSynced(ctx context.Context) error {
	if err := waitClosed(ctx, s.synced, s.ended); err != nil {
		return err
	}
	for _, h := range s.handlers.current() {
		err := waitClosed(ctx, h.registration.synced, h.registration.ended)
		if err != nil && !errors.Is(err, ErrStopped) { // a removed handler does not count
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

// Shutdown stops the informers and returns when all their goroutines have ended, callbacks
// included. No informer can be started afterwards. A second call does nothing. (client-go waits
// until the caller has stopped them.)
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
	Informers []string // such as "namespaces (*api.Namespace)", in the order of their creation
	Err       error    // why the wait ended: the error of the context, or ErrStopped
}

func (e *NotSyncedError) Error() string {
	return fmt.Sprintf("caches that did not sync: %s: %v", strings.Join(e.Informers, ", "), e.Err)
}

func (e *NotSyncedError) Unwrap() error { return e.Err }

// InformerSynced reports whether something has synced, such as SharedIndexInformer.HasSynced or
// Registration.HasSynced.
type InformerSynced func() bool

// Syncer can be waited for without polling: an informer or a [Registration].
type Syncer interface {
	HasSynced() bool
	Synced() <-chan struct{}
}

// syncPollPeriod is the polling interval of WaitForCacheSync.
const syncPollPeriod = 100 * time.Millisecond

// WaitForCacheSync waits until all functions return true. It returns false if ctx ended before. It
// polls every 100 ms; [WaitForSync] does not poll.
//
// A controller that depends on data collected by its handlers must wait for its registrations: the
// informer's store may be complete before the handlers have processed it.
func WaitForCacheSync(ctx context.Context, synced ...InformerSynced) bool {
	isNot := func(s InformerSynced) bool { return !s() }
	err := wait.PollUntilContextCancel(ctx, syncPollPeriod, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(synced, isNot), nil
	})
	return err == nil
}

// WaitForSync waits until all informers and registrations have synced. It returns nil, or the error
// of ctx if that ended first.
func WaitForSync(ctx context.Context, syncers ...Syncer) error {
	for _, s := range syncers {
		if err := waitClosed(ctx, s.Synced(), nil); err != nil {
			return err
		}
	}
	return nil
}

// isClosed reports whether a channel without senders is closed.
func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// waitClosed waits until done is closed. It gives up when ctx ends, or with ErrStopped when stopped
// is closed.
func waitClosed(ctx context.Context, done, stopped <-chan struct{}) error {
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-stopped:
		err = ErrStopped
	}
	if isClosed(done) { // select chooses at random
		return nil
	}
	return err
}

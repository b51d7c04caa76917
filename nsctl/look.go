package nsctl

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/wait"
)

// lookConcurrency is how many types [Look] reads at a time.
const lookConcurrency = 8

// Looked is what [Look] found: the types of which a namespace may hold objects, and which of them
// could not be read.
type Looked struct {
	Resources    []DeletableResource // the types that the deleter would empty, in its order: pods first
	Errs         []error             // for each of Resources: nil if it was read, or lacks the verb list
	DiscoveryErr error               // not nil if types may be missing from Resources
	ParseErr     error               // names group versions that cannot be parsed, whose types are missing
}

// Look reads what a terminating namespace holds, as the deleter sees it, and writes nothing. It
// asks discovery for the types as they were at deletedAt or later, and calls read for each that can
// be listed: at most eight at a time, from several goroutines, the types in their order.
//
// Look returns when every call of read has returned. If one panics, so does Look; see [Parallelize].
func Look(
	ctx context.Context, discovery Discovery, deletedAt time.Time, read func(context.Context, DeletableResource) error,
) Looked {
	var found ConditionUpdater
	lists, err := discovery.PreferredNamespacedResources(ctx, deletedAt)
	resources, err := found.ProcessDiscovery(lists, err)
	looked := Looked{Resources: resources, Errs: make([]error, len(resources)), DiscoveryErr: err,
		ParseErr: found.parseErr}
	Parallelize(len(resources), lookConcurrency, func(i int) {
		if !resources[i].CanList {
			return
		}
		if err := read(ctx, resources[i]); err != nil {
			looked.Errs[i] = &ResourceError{Doing: "listing", Resource: resources[i].GVR, Err: err}
		}
	})
	return looked
}

// Err returns everything that could not be read as a *[ContentError], or nil.
func (l Looked) Err() error {
	return contentError(append([]error{l.DiscoveryErr, l.ParseErr}, l.Errs...))
}

// Parallelize calls do for 0 to n-1, at most limit at a time and one at least, and returns when all
// calls have. If one panics, Parallelize waits for the others and then panics with a *wait.Panic on
// the caller's goroutine: an unrecovered panic on another one would end the process.
func Parallelize(n, limit int, do func(i int)) {
	slots := make(chan struct{}, max(limit, 1))
	var panicked atomic.Pointer[wait.Panic]
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					panicked.Store(wait.NewPanic(value))
				}
				<-slots
			}()
			do(i)
		})
	}
	running.Wait()
	if err := panicked.Load(); err != nil {
		panic(err)
	}
}

package wait

import (
	"context"
	"sync"
)

// Group starts goroutines and waits until all of them have returned. Its zero
// value is ready to use. It must not be copied after the first Start.
//
// A group does not stop anything: the channel or context that was given to a
// function tells it when to return.
type Group struct {
	wg sync.WaitGroup
}

// Start runs f on a goroutine of its own. Like a sync.WaitGroup, an empty
// group must not be started and waited for at the same time.
func (g *Group) Start(f func()) {
	g.wg.Go(f)
}

// StartWithChannel starts f(stopCh). f has to return soon after stopCh is
// closed.
func (g *Group) StartWithChannel(stopCh <-chan struct{}, f func(stopCh <-chan struct{})) {
	g.Start(func() { f(stopCh) })
}

// StartWithContext starts f(ctx). f has to return soon after ctx has ended.
func (g *Group) StartWithContext(ctx context.Context, f func(context.Context)) {
	g.Start(func() { f(ctx) })
}

// Wait blocks until every started function has returned.
func (g *Group) Wait() {
	g.wg.Wait()
}

package machine_test

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

// endless is a watch that delivers the same few events n times and then blocks.
type endless struct {
	events []api.WatchEvent[*api.Namespace]
	next   int
	left   chan int // events still to deliver
	credit int
	idle   chan struct{} // receives when all were read
	done   chan struct{}
}

func newEndless() *endless {
	w := &endless{left: make(chan int), idle: make(chan struct{}), done: make(chan struct{})}
	for i := range 16 {
		ns := informertest.Namespace("ns" + strconv.Itoa(i))
		ns.ResourceVersion = strconv.Itoa(100 + i)
		w.events = append(w.events, api.WatchEvent[*api.Namespace]{
			Type: api.WatchModified, Object: ns, ResourceVersion: ns.ResourceVersion})
	}
	return w
}

func (w *endless) Next() (api.WatchEvent[*api.Namespace], error) {
	if w.credit == 0 {
		select {
		case w.idle <- struct{}{}:
		case <-w.done:
			return api.WatchEvent[*api.Namespace]{}, io.EOF
		}
		select {
		case w.credit = <-w.left:
		case <-w.done:
			return api.WatchEvent[*api.Namespace]{}, io.EOF
		}
	}
	w.credit--
	w.next++
	return w.events[w.next%len(w.events)], nil
}

func (w *endless) Stop() {}

// pass releases n events and returns when they are in the store.
func (w *endless) pass(n int) {
	w.left <- n
	<-w.idle
}

type nowhere struct{}

func (nowhere) Add(*api.Namespace) error               { return nil }
func (nowhere) Update(*api.Namespace) error            { return nil }
func (nowhere) Delete(*api.Namespace) error            { return nil }
func (nowhere) Replace([]*api.Namespace, string) error { return nil }
func (nowhere) Resync() error                          { return nil }

// stream runs a Reflector on an endless watch.
func stream(trace *reflector.Trace) (w *endless, stop func()) {
	w = newEndless()
	r := machine.New(reflector.Config[*api.Namespace]{
		Store: nowhere{},
		Trace: trace,
		ListerWatcher: reflectortest.Scripted{
			OnList: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
				return reflectortest.ListOf("1", ""), nil
			},
			OnWatch: func(context.Context, api.ListOptions) (api.Watcher[*api.Namespace], error) { return w, nil },
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	<-w.idle
	return w, func() {
		cancel()
		close(w.done)
		<-done
	}
}

// TestAnEventAllocatesNothing: without hooks, and with a hook for another event, an event passes
// the machine and the shell without an allocation.
func TestAnEventAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("allocations are counted without the race detector")
	}
	for name, trace := range map[string]*reflector.Trace{
		"no hooks":       nil,
		"an unused hook": {StateChanged: func(reflector.Phase, reflector.Phase, string) {}},
		"an event hook":  {Event: func(reflector.EventInfo) {}},
	} {
		t.Run(name, func(t *testing.T) {
			w, stop := stream(trace)
			defer stop()
			// Ten thousand events per run, so that the hand-over between test and watch is
			// negligible.
			assert.Less(t, testing.AllocsPerRun(10, func() { w.pass(10_000) }), 10.0)
		})
	}
}

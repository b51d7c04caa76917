package fast

import (
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer"
	"orrery/restclient/api"
)

// waitingIn returns the notifications in the queue, oldest first.
func waitingIn(p *coalescingQueue[*thing]) (events []string) {
	for e := p.list.next; e != &p.list; e = e.next {
		events = append(events, tell(e.event))
	}
	return events
}

// deliverAll delivers what waits.
func (p *coalescingQueue[T]) deliverAll(call func(n *informer.Notification[T])) {
	var n informer.Notification[T]
	for p.list.next != &p.list {
		p.next(&n)
		call(&n)
	}
}

// check returns the violated invariant of the queue, if any.
func (p *coalescingQueue[T]) check(t require.TestingT) {
	found := 0
	for e := p.list.next; e != &p.list; e = e.next {
		require.Same(t, e, e.previous.next)
		require.Same(t, e, e.next.previous)
		if e.event.Kind != informer.EventSynced {
			require.Same(t, e, p.byKey[e.event.Key])
			found++
		}
	}
	require.Len(t, p.byKey, found)
}

func TestCoalescingQueueKeepsOneEventForAnObject(t *testing.T) {
	p := newCoalescingQueue[*thing]()
	a, b := story("a", "+1", "2", "3"), story("b", "+1", "2", "-", "+4")
	assert.Zero(t, p.add(a[:1]))
	assert.Zero(t, p.add(b[:1]))
	assert.Equal(t, 1, p.add(a[1:2]))
	assert.Equal(t, []string{"add a nothing->2", "add b nothing->1"}, waitingIn(p), "each keeps its place")
	assert.Equal(t, 3, p.add(b[1:3]), "added and deleted: its three events cancel out")
	assert.Equal(t, []string{"add a nothing->2"}, waitingIn(p))
	p.add(b[3:])
	p.add(a[2:])
	assert.Equal(t, []string{"add a nothing->3", "add b nothing->4"}, waitingIn(p))
	p.check(t)
}

// TestCoalescingQueueWaitsForTheHandler: changes to an object during its callback are one event
// afterwards.
func TestCoalescingQueueWaitsForTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newCoalescingQueue[*thing]()
		var reported []string
		turn := make(chan struct{})
		done := running(p, func(n *informer.Notification[*thing]) {
			reported = append(reported, tell(*n))
			<-turn
		})
		a, b := story("a", "+1", "2", "3", "-", "+5"), story("b", "+1")
		p.add(a[:1])
		synctest.Wait()
		p.add(a[1:2])
		p.add(b)
		p.add(a[2:])
		synctest.Wait()
		assert.Equal(t, []string{"add a nothing->1"}, reported, "the handler is still running")
		turn <- struct{}{}
		synctest.Wait()
		assert.Equal(t, "update a 1->5", reported[1], "one update to another object of that name")
		close(turn)
		synctest.Wait()
		p.stop()
		<-done
		assert.Equal(t, []string{"add a nothing->1", "update a 1->5", "add b nothing->1"}, reported)
	})
}

// TestCoalescingQueueLeadsToTheSameState: with any merging, each event begins in the handler's
// state, no deletion is lost, and the handler ends in the current state.
func TestCoalescingQueueLeadsToTheSameState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newCoalescingQueue[*thing]()
		world, reported := map[string]*thing{}, map[string]*thing{}
		sent, merged, handled := 0, 0, 0
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			n := informer.Notification[*thing]{Kind: informer.EventUpdate, Key: key, Old: world[key],
				New: &thing{name: key, version: strconv.Itoa(i)}}
			switch rapid.SampledFrom([]string{"set", "set", "delete", "tell"}).Draw(t, "what") {
			case "set":
				if n.Old == nil {
					n.Kind = informer.EventAdd
				}
				world[key] = n.New
			case "delete":
				if n.Old == nil {
					continue
				}
				n.Kind = informer.EventDelete
				delete(world, key)
			case "tell":
				if len(p.byKey) > 0 {
					var one informer.Notification[*thing]
					require.True(t, p.next(&one))
					tellAll(t, reported, []informer.Notification[*thing]{one})
					handled++
				}
				continue
			}
			merged += p.add([]informer.Notification[*thing]{n})
			sent++
			p.check(t)
			require.Equal(t, len(p.byKey), sent-merged-handled)
		}
		p.deliverAll(func(n *informer.Notification[*thing]) {
			tellAll(t, reported, []informer.Notification[*thing]{*n})
		})
		require.True(t, maps.Equal(world, reported))
	})
}

// story makes notifications of one object from versions: "+1" an addition of version 1, "2" an
// update to it, "=" a resync, "-" a deletion.
func story(key string, steps ...string) []informer.Notification[*thing] {
	var out []informer.Notification[*thing]
	var state *thing
	for _, s := range steps {
		n := informer.Notification[*thing]{Key: key, Old: state}
		switch s {
		case "-":
			n.Kind, n.New = informer.EventDelete, state
			state = nil
		case "=":
			n.Kind, n.New, n.Sync = informer.EventUpdate, state, true
		default:
			n.Kind = informer.EventUpdate
			if s[0] == '+' {
				n.Kind, s = informer.EventAdd, s[1:]
			}
			state = &thing{name: key, version: s}
			n.New = state
		}
		out = append(out, n)
	}
	return out
}

// merged returns the notifications that wait for a handler after the events.
func merged[T any](events []informer.Notification[T]) (waiting []informer.Notification[T]) {
	q := newCoalescingQueue[T]()
	q.add(events)
	for e := q.list.next; e != &q.list; e = e.next {
		waiting = append(waiting, e.event)
	}
	return waiting
}

func tell(n informer.Notification[*thing]) string {
	version := func(t *thing) string {
		if t == nil {
			return "nothing"
		}
		return t.version
	}
	return fmt.Sprintf("%v %s %s->%s", n.Kind, n.Key, version(n.Old), version(n.New))
}

func TestMergingKeepsTheEffect(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string // the earlier events, delivered
		steps []string
		want  []string
	}{
		{"updates", []string{"+1"}, []string{"2", "3", "4"}, []string{"update a 1->4"}},
		{"an addition and updates", nil, []string{"+1", "2"}, []string{"add a nothing->2"}},
		{"it came and went", nil, []string{"+1", "2", "-"}, nil},
		{"it came, went and came", nil, []string{"+1", "-", "+2"}, []string{"add a nothing->2"}},
		{"it went", []string{"+1"}, []string{"2", "-"}, []string{"delete a 1->2"}},
		{"it was replaced", []string{"+1"}, []string{"2", "-", "+3", "4"}, []string{"update a 1->4"}},
		{"it was replaced and went", []string{"+1"}, []string{"-", "+2", "-"}, []string{"delete a 1->2"}},
		{"resyncs", []string{"+1"}, []string{"=", "="}, []string{"update a 1->1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := story("a", append(c.known, c.steps...)...)
			var got []string
			for _, n := range merged(all[len(c.known):]) {
				got = append(got, tell(n))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestMergingReportsTheDeletionOfTheReportedObject: an object is deleted, and another of its name
// is added and deleted, while the handler is stuck. A handler that keeps state by UID must receive
// the deletion of the first one; it never received the second.
func TestMergingReportsTheDeletionOfTheReportedObject(t *testing.T) {
	object := func(uid, version string) *api.PartialObjectMetadata {
		return &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: "a", UID: uid, ResourceVersion: version}}
	}
	reported, changed := object("first", "1"), object("first", "2")
	successor := object("second", "4")
	type n = informer.Notification[*api.PartialObjectMetadata]
	deletion := func(old, obj *api.PartialObjectMetadata) n {
		return n{Kind: informer.EventDelete, Key: "a", Old: old, New: obj}
	}
	update := n{Kind: informer.EventUpdate, Key: "a", Old: reported, New: changed}
	creation := n{Kind: informer.EventAdd, Key: "a", New: successor}

	for name, events := range map[string][]n{
		"seen": {update, deletion(changed, object("first", "3")), creation,
			deletion(successor, object("second", "5"))},
		"after a gap": {update, {Kind: informer.EventUpdate, Key: "a", Old: changed, New: successor},
			deletion(successor, object("second", "5"))},
	} {
		got := merged(events)
		require.Len(t, got, 1, name)
		assert.Equal(t, informer.EventDelete, got[0].Kind, name)
		assert.Same(t, reported, got[0].New, name)
		assert.True(t, got[0].FinalStateUnknown, name)
	}
	same := merged([]n{update, deletion(changed, object("first", "3"))})
	assert.Equal(t, "3", same[0].New.ResourceVersion, "its own final state is known")
	assert.False(t, same[0].FinalStateUnknown)
}

func TestMergingDistinguishesResyncs(t *testing.T) {
	resyncs := merged(story("a", "+1", "=", "=")[1:])
	assert.True(t, resyncs[0].Sync, "resyncs alone are a resync")
	change := merged(story("a", "+1", "=", "2", "=")[1:])
	assert.False(t, change[0].Sync, "a change merged with resyncs is a change")
}

func TestMergingKeepsTheMarkBehindTheInitialList(t *testing.T) {
	a, b := story("a", "+1", "2"), story("b", "+1")
	a[0].Initial = true
	got := merged(append([]informer.Notification[*thing]{a[0], {Kind: informer.EventSynced}, a[1]}, b...))
	require.Len(t, got, 3)
	assert.Equal(t, "add a nothing->2", tell(got[0]))
	assert.True(t, got[0].Initial, "the merged addition is still one of the initial list")
	assert.Equal(t, informer.EventSynced, got[1].Kind)
	assert.Equal(t, "add b nothing->1", tell(got[2]))
}

func tellAll(t *rapid.T, reported map[string]*thing, events []informer.Notification[*thing]) {
	for _, n := range events {
		require.Same(t, reported[n.Key], n.Old, tell(n))
		require.Equal(t, n.Kind == informer.EventAdd, n.Old == nil, tell(n))
		if n.Kind == informer.EventDelete {
			delete(reported, n.Key)
		} else {
			reported[n.Key] = n.New
		}
	}
}

// thing is a small object.
type thing struct{ name, version string }

// callFunc is the handler that a queue delivers to.
type callFunc func(n *informer.Notification[*thing])

func (f callFunc) Call(n *informer.Notification[*thing]) { f(n) }

// eachQueue runs a test with every kind of queue, in a bubble, which ends only if they leave no
// goroutine.
func eachQueue(t *testing.T, test func(t *testing.T, p deliveryQueue[*thing])) {
	for name, opts := range map[string]informer.HandlerOptions{"batches": {}, "coalescing": {Coalescing: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newDeliveryQueue[*thing](opts, false, nil)) })
		})
	}
}

// numbered returns n notifications whose keys count from first.
func numbered(first, n int) []informer.Notification[*thing] {
	out := make([]informer.Notification[*thing], n)
	for i := range out {
		out[i] = informer.Notification[*thing]{Kind: informer.EventAdd, Key: strconv.Itoa(first + i), New: &thing{}}
	}
	return out
}

// sink is the handler side of a queue.
type sink struct {
	mu   sync.Mutex
	keys []string
}

func (s *sink) deliver(n *informer.Notification[*thing]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, n.Key)
}

func (s *sink) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

// running runs a queue. done is closed when it has ended.
func running(p deliveryQueue[*thing], call callFunc) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		p.run(call)
	}()
	return done
}

func keysFrom(first, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(first + i)
	}
	return out
}

func TestDeliveryQueueNeverWaitsForItsReader(t *testing.T) {
	eachQueue(t, func(t *testing.T, p deliveryQueue[*thing]) {
		release := make(chan struct{})
		var s sink
		go p.run(callFunc(func(n *informer.Notification[*thing]) {
			<-release
			s.deliver(n)
		}))
		p.add(numbered(0, 3000)) // would block the test forever
		synctest.Wait()
		assert.Empty(t, s.got())
		close(release)
		synctest.Wait()
		assert.Equal(t, keysFrom(0, 3000), s.got())
		p.stop()
	})
}

func TestDeliveryQueueStopDropsWhatWaits(t *testing.T) {
	eachQueue(t, func(t *testing.T, p deliveryQueue[*thing]) {
		release := make(chan struct{})
		var s sink
		done := running(p, func(n *informer.Notification[*thing]) {
			s.deliver(n)
			<-release
		})
		p.add(numbered(0, 300))
		synctest.Wait()
		p.stop()
		p.stop()
		synctest.Wait()
		assert.False(t, closed(done), "the delivery in progress is waited for")
		close(release)
		<-done
		assert.Equal(t, []string{"0"}, s.got())
		p.add(numbered(300, 1)) // a no-op that does not block
	})
}

// TestBatchQueueReleasesHandledObjects: delivered objects can be collected while the queue is in
// use.
func TestBatchQueueReleasesHandledObjects(t *testing.T) {
	p := newBatchQueue[*thing]()
	collected := make(chan struct{})
	func() {
		obj := &thing{name: "large"}
		runtime.AddCleanup(obj, func(struct{}) { close(collected) }, struct{}{})
		p.add([]informer.Notification[*thing]{{Kind: informer.EventAdd, New: obj}})
	}()
	delivered := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { p.run(callFunc(func(*informer.Notification[*thing]) { close(delivered) })) })
	<-delivered
	for i := 0; i < 1000 && !closed(collected); i++ {
		runtime.GC()
		runtime.Gosched() // the cleanup has its own goroutine
	}
	assert.True(t, closed(collected))
	p.stop()
	running.Wait()
}

// closed reports whether a channel without senders is closed.
func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

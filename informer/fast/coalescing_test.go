package fast

import (
	"maps"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer"
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

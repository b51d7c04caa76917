package informer

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/deltafifo"
)

func nothing() *initialContent[*thing] { return nil }

// numbers is a handler that writes down the keys of what it is told.
type numbers struct{ sink }

func (h *numbers) OnAdd(obj *thing, _ bool) {
	h.deliver(&notification[*thing]{key: obj.name})
}
func (h *numbers) OnUpdate(_, obj *thing) { h.OnAdd(obj, false) }

func (h *numbers) OnDelete(DeletedObject[*thing]) {}

func event(i int, sync bool) notification[*thing] {
	name := strconv.Itoa(i)
	return notification[*thing]{kind: EventUpdate, sync: sync, key: name, obj: &thing{name: name}}
}

// TestProcessorGivesEachListenerItsShare appends events, flushes, and lets listeners join and leave at random
// moments, and compares what each is told with what it should have been.
func TestProcessorGivesEachListenerItsShare(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(rapid.SampledFrom([]string{
			"append", "append", "append", "sync", "flush", "join", "join due", "drain",
		}), 1, 80).Draw(rt, "script")
		delivery := rapid.SampledFrom(deliveries).Draw(rt, "delivery")
		synctest.Test(t, func(t *testing.T) { playProcessor(t, delivery, script) })
	})
}

type member struct {
	handler *numbers
	joined  *listener[*thing]
	due     bool
	want    []string
}

func playProcessor(t *testing.T, delivery Delivery, script []string) {
	p := newProcessor[*thing]("test", time.Hour, nil)
	p.start()
	var members, left []*member
	for i, what := range script {
		switch what {
		case "append", "sync":
			p.append(event(i, what == "sync"))
			for _, m := range members {
				if what == "append" || m.due {
					m.want = append(m.want, strconv.Itoa(i))
				}
			}
		case "flush":
			p.flush()
		case "join", "join due":
			m := &member{handler: &numbers{}, due: what == "join due"}
			var err error
			m.joined, err = p.join(m.handler, HandlerOptions{Delivery: delivery, Capacity: 2}, nothing)
			require.NoError(t, err)
			m.joined.due.Store(m.due)
			members = append(members, m)
		case "drain":
			if len(members) > 0 {
				l, started, rest := p.leave(members[0].joined.registration)
				require.True(t, started)
				l.drain(rest)
				left, members = append(left, members[0]), members[1:]
			}
		}
		p.mu.Lock()
		require.NoError(t, p.checkLocked())
		p.mu.Unlock()
	}
	p.flush()
	synctest.Wait()
	for _, m := range append(left, members...) {
		assert.Equal(t, m.want, m.handler.got())
	}
	p.stop()
	p.mu.Lock()
	assert.NoError(t, p.checkLocked())
	p.mu.Unlock()
	_, err := p.join(&numbers{}, HandlerOptions{}, nothing)
	assert.ErrorIs(t, err, ErrStopped)
}

// TestJoinBetweenAppendAndFlush: the snapshot of the new listener contains what waits for a flush.
func TestJoinBetweenAppendAndFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcessor[*thing]("test", 0, nil)
		p.start()
		first, second := &numbers{}, &numbers{}
		_, err := p.join(first, HandlerOptions{}, nothing)
		require.NoError(t, err)
		assert.Equal(t, 1, p.append(event(1, false)))
		assert.Equal(t, 2, p.append(event(2, false)))
		_, err = p.join(second, HandlerOptions{}, nothing)
		require.NoError(t, err)
		assert.Equal(t, 3, p.append(event(3, false)))
		p.flush()
		synctest.Wait()
		assert.Equal(t, []string{"1", "2", "3"}, first.got())
		assert.Equal(t, []string{"3"}, second.got())
		p.stop()
	})
}

// TestFlushesFollowEachOther: a flush that meets another one waits for it, and the order is kept. A drain waits for none:
// the other flush may be waiting for whoever drains.
func TestFlushesFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := newProcessor[*thing]("test", 0, &Trace{Distributed: func(_ EventKind, key string, _ int) {
			if key == "1" {
				<-release
			}
		}})
		p.start()
		leaves, stays := &numbers{}, &numbers{}
		l, err := p.join(leaves, HandlerOptions{}, nothing)
		require.NoError(t, err)
		_, err = p.join(stays, HandlerOptions{}, nothing)
		require.NoError(t, err)
		var flushes sync.WaitGroup
		p.append(event(1, false))
		flushes.Go(p.flush)
		synctest.Wait()
		p.append(event(2, false))
		flushes.Go(p.flush)
		synctest.Wait()

		_, _, rest := p.leave(l.registration)
		l.drain(rest)
		<-l.registration.ended
		assert.Equal(t, []string{"1", "2"}, leaves.got())
		assert.Empty(t, stays.got())
		close(release)
		flushes.Wait()
		synctest.Wait()
		assert.Equal(t, []string{"1", "2"}, leaves.got(), "nothing twice")
		assert.Equal(t, []string{"1", "2"}, stays.got())
		p.stop()
	})
}

// leaver is a handler that leaves its goroutine.
type leaver struct{ numbers }

func (*leaver) OnUpdate(_, _ *thing) { runtime.Goexit() }

// TestNothingIsKeptForAHandlerThatLeft: nobody would ever empty its pipe.
func TestNothingIsKeptForAHandlerThatLeft(t *testing.T) {
	p := newProcessor[*thing]("test", 0, nil)
	p.start()
	l, err := p.join(&leaver{}, HandlerOptions{}, nothing)
	require.NoError(t, err)
	p.append(event(1, false))
	p.flush()
	<-l.registration.ended
	p.append(event(2, false))
	p.flush()
	assert.Empty(t, l.pipe.(*batchPipe[*thing]).waiting)
	p.stop()
}

func TestEventsForNobodyAreNotKept(t *testing.T) {
	p := newProcessor[*thing]("test", time.Hour, nil)
	assert.Zero(t, p.append(event(1, false)), "no listener")
	_, err := p.join(&numbers{}, HandlerOptions{}, nothing)
	require.NoError(t, err)
	assert.Zero(t, p.append(event(2, true)), "a sync, and nobody is due")
	assert.Equal(t, 1, p.append(event(3, false)))
}

func TestCheckLockedFindsWhatIsWrong(t *testing.T) {
	for name, p := range map[string]*processor[*thing]{
		"listeners after the end": {stopped: true, listeners: []*listener[*thing]{{}}},
		"too much waits":          {waiting: numbered(0, 1)},
		"joined in the future":    {listeners: []*listener[*thing]{{joined: 1, registration: &Registration{}}}},
	} {
		assert.Error(t, p.checkLocked(), name)
	}
}

func TestResyncPeriods(t *testing.T) {
	for _, c := range []struct {
		name              string
		check             time.Duration
		wish              time.Duration
		started           bool
		wantCheck, wanted time.Duration
	}{
		{"never", time.Minute, 0, false, time.Minute, 0},
		{"never, said otherwise", time.Minute, -1, false, time.Minute, 0},
		{"the informer does not resync", 0, time.Minute, false, 0, 0},
		{"slower than the informer", time.Minute, time.Hour, false, time.Minute, time.Hour},
		{"faster, before the start", time.Minute, 2 * time.Second, false, 2 * time.Second, 2 * time.Second},
		{"faster, after the start", time.Minute, 2 * time.Second, true, time.Minute, time.Minute},
		{"too fast", time.Minute, time.Millisecond, false, time.Second, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProcessor[*thing]("test", c.check, nil)
			hour, err := p.join(&numbers{}, HandlerOptions{ResyncPeriod: time.Hour}, nothing)
			require.NoError(t, err)
			p.started = c.started
			p.requestedPeriodLocked(c.wish) // as join does, but without a goroutine
			assert.Equal(t, c.wanted, p.requestedPeriodLocked(c.wish))
			assert.Equal(t, c.wantCheck, p.resyncCheckPeriod())
			if c.check > 0 {
				assert.Equal(t, time.Hour, hour.resync.period, "others keep their period")
			}
		})
	}
}

func TestScheduleAdapts(t *testing.T) {
	now := time.Now()
	s := resyncSchedule{requested: 10 * time.Second}
	s.adapt(30*time.Second, now)
	assert.Equal(t, 30*time.Second, s.period)
	assert.False(t, s.due(now.Add(29*time.Second)))
	assert.True(t, s.due(now.Add(30*time.Second)))
	assert.False(t, s.due(now.Add(31*time.Second)), "the next one is counted from then")
	assert.True(t, s.due(now.Add(60*time.Second)))

	s.adapt(5*time.Second, now)
	assert.Equal(t, 10*time.Second, s.period)
	s.adapt(0, now)
	assert.False(t, s.due(now.Add(time.Hour)))
}

// TestTombstoneForWhatIsGoneAlready: the deletion itself was processed while the list without the object was under
// way. It must not be told twice.
func TestTombstoneForWhatIsGoneAlready(t *testing.T) {
	s := NewSharedIndexInformer[*thing](nil, Config[*thing]{})
	_, err := s.AddEventHandler(&numbers{})
	require.NoError(t, err)
	tombstone := deltafifo.Deltas[*thing]{{
		Type:      deltafifo.Deleted,
		Tombstone: &deltafifo.DeletedFinalStateUnknown[*thing]{Key: "ns/a"},
	}}
	assert.Zero(t, s.handleDeltas("ns/a", tombstone, false))

	told := &thing{namespace: "ns", name: "a", version: "1"}
	assert.Equal(t, 1, s.handleDeltas("ns/a", deltafifo.Deltas[*thing]{{Type: deltafifo.Added, Object: told}}, false))
	assert.Equal(t, 2, s.handleDeltas("ns/a", tombstone, false))
	deleted := s.processor.waiting[1]
	assert.True(t, deleted.finalStateUnknown)
	assert.Same(t, told, deleted.obj, "the state that handlers know, though the tombstone has none")
}

func TestFailuresThatNobodyHasTimeForAreCounted(t *testing.T) {
	f := newFailures()
	for range maxPendingFailures + 10 {
		f.add(&ProcessError{Key: "a"})
	}
	told := 0
	f.tell = func(*ProcessError) { told++ }
	f.tellRest()
	assert.Equal(t, maxPendingFailures, told)
	count, last := f.summary()
	assert.EqualValues(t, maxPendingFailures+10, count)
	assert.Equal(t, "a", last.Key)
}

func TestGoroutinesHaveDifferentNumbers(t *testing.T) {
	here := goroutineID()
	assert.NotZero(t, here)
	assert.Equal(t, here, goroutineID())
	other := make(chan uint64)
	go func() { other <- goroutineID() }()
	assert.NotEqual(t, here, <-other)
}

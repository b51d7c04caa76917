package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

// deaf is a handler that ignores everything.
type deaf = ResourceEventHandlerFuncs[*thing]

// recorder is a processor with one listener that records its notifications.
type recorder struct{ reported []Notification[*thing] }

func (r *recorder) AddListener(*RegisteredHandler[*thing], []Notification[*thing]) {}
func (r *recorder) RemoveListener(*RegisteredHandler[*thing])                      {}
func (r *recorder) Flush()                                                         {}
func (r *recorder) ShouldResync(time.Time) int                                     { return 0 }
func (r *recorder) Run(ctx context.Context)                                        { <-ctx.Done() }
func (r *recorder) Distribute(n Notification[*thing]) int {
	r.reported = append(r.reported, n)
	return 1
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
		{"never, negative", time.Minute, -1, false, time.Minute, 0},
		{"the informer does not resync", 0, time.Minute, false, 0, 0},
		{"slower than the informer", time.Minute, time.Hour, false, time.Minute, time.Hour},
		{"faster, before the start", time.Minute, 2 * time.Second, false, 2 * time.Second, 2 * time.Second},
		{"faster, after the start", time.Minute, 2 * time.Second, true, time.Minute, time.Minute},
		{"too fast", time.Minute, time.Millisecond, false, time.Second, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := registry[*thing]{checkPeriod: c.check}
			add := func(period time.Duration) *RegisteredHandler[*thing] {
				h := newRegisteredHandler(deaf{}, HandlerOptions{ResyncPeriod: period}, newRegistration(HandlerInfo{}, nil), &Trace{})
				require.True(t, r.add(h))
				return h
			}
			hour := add(time.Hour)
			if c.started {
				r.start()
			}
			period, next := add(c.wish).resync.plan()
			assert.Equal(t, c.wanted, period)
			assert.Equal(t, c.wanted == 0, next.IsZero())
			assert.Equal(t, c.wantCheck, r.start())
			if c.check > 0 {
				period, _ = hour.resync.plan()
				assert.Equal(t, time.Hour, period, "others keep their period")
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

// TestTombstoneForWhatIsGoneAlready: the deletion itself was processed while the list without the
// object was in progress. The handler must not receive it twice.
func TestTombstoneForWhatIsGoneAlready(t *testing.T) {
	var reported recorder
	s := NewSharedIndexInformer(nil, Config[*thing]{Gears: Gears[*thing]{NewProcessor: func() Processor[*thing] { return &reported }}})
	tombstone := deltafifo.Deltas[*thing]{{
		Type:      deltafifo.Deleted,
		Tombstone: &deltafifo.DeletedFinalStateUnknown[*thing]{Key: "ns/a"},
	}}
	require.NoError(t, s.handleDeltas("ns/a", tombstone, false))
	assert.Empty(t, reported.reported)

	known := &thing{namespace: "ns", name: "a", version: "1"}
	require.NoError(t, s.handleDeltas("ns/a", deltafifo.Deltas[*thing]{{Type: deltafifo.Added, Object: known}}, false))
	require.NoError(t, s.handleDeltas("ns/a", tombstone, false))
	require.Len(t, reported.reported, 2)
	assert.True(t, reported.reported[1].FinalStateUnknown)
	assert.Same(t, known, reported.reported[1].New, "the state that handlers know, though the tombstone has none")
}

// TestAnEventIsPendingBeforeItsHandlerIsCalled: the lag includes the event in the running
// callback.
func TestAnEventIsPendingBeforeItsHandlerIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSharedIndexInformer(nil, Config[*thing]{})
		h := newRegisteredHandler[*thing](deaf{}, HandlerOptions{}, newRegistration(HandlerInfo{}, s), s.config.Trace)
		s.processor.AddListener(h, nil)
		go s.processor.Distribute(Notification[*thing]{Kind: EventAdd, Key: "a", New: &thing{name: "a"}})
		synctest.Wait() // the listener has not been started
		assert.Equal(t, 1, h.pending())

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.processor.Run(ctx)
		}()
		synctest.Wait()
		assert.Zero(t, h.pending())
		cancel()
		<-ended
	})
}

func TestDroppedFailuresAreCounted(t *testing.T) {
	f := newFailures()
	for range maxPendingFailures + 10 {
		f.add(&ProcessError{Key: "a"})
	}
	reported := 0
	f.tell = func(*ProcessError) { reported++ }
	over, cancel := context.WithCancel(t.Context())
	cancel()
	f.run(over)
	assert.Equal(t, maxPendingFailures, reported)
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

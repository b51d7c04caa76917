package trace_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
	"orrery/queue"
	"orrery/restclient/api"
)

// recordedEvents returns the events of a recording.
func recordedEvents(t *testing.T, name string) (events []trace.Event) {
	t.Helper()
	from, err := os.Open(name)
	require.NoError(t, err)
	defer from.Close()
	_, err = trace.Read(from, func(e *trace.Event) error {
		events = append(events, *e)
		return nil
	})
	require.NoError(t, err)
	return events
}

// last returns the sequence number of the last event with this name, and its causes.
func last(events []trace.Event, name string) (seq uint64, causes []uint64) {
	for _, e := range events {
		if e.Name == name {
			seq, causes = e.Seq, e.Causes
		}
	}
	return seq, causes
}

// An event has the causes that its gear's rules say, and nothing that an earlier one has left
// behind.
func TestCausesFollowTheRules(t *testing.T) {
	const in = "namespaces"
	applied := informer.AppliedInfo{EventInfo: informer.EventInfo{Number: 1, Key: "a", Kind: informer.EventUpdate}, Type: deltafifo.Updated}
	handler := informer.HandlerInfo{Informer: in, Handler: "h", ID: 1}
	for name, c := range map[string]struct {
		run         func(r *trace.Recorder, q *queue.RateLimitingQueue[string])
		what, cause string // "" is none
	}{
		"a write whose pop failed": {func(r *trace.Recorder, _ *queue.RateLimitingQueue[string]) {
			fifo := trace.FIFO[*api.Namespace](r, in)
			fifo.Popped("b", nil, false, 0)
			r.Store(in).Updated("b")
			fifo.Processed("b", nil, os.ErrInvalid)
			fifo.Popped("a", nil, false, 0)
			r.Informer(in).Applied(applied)
		}, "informer.applied", "deltafifo.popped"},
		"a delta that was queued again": {func(r *trace.Recorder, _ *queue.RateLimitingQueue[string]) {
			fifo := trace.FIFO[*api.Namespace](r, in)
			fifo.Popped("a", nil, false, 0)
			fifo.Requeued("a", nil, 1)
			fifo.Popped("a", nil, false, 0)
		}, "deltafifo.popped", "deltafifo.requeued"},
		"a call that is over": {func(r *trace.Recorder, q *queue.RateLimitingQueue[string]) {
			r.Informer(in).HandlerCalled(handler, applied.EventInfo)
			r.Informer(in).Handled(handler, applied.EventInfo, 0)
			q.Add("a")
		}, "queue.added", ""},
		"a delay that has added its key": {func(_ *trace.Recorder, q *queue.RateLimitingQueue[string]) {
			q.AddAfter("a", time.Second)
			time.Sleep(2 * time.Second)
			key, _ := q.Get()
			q.Done(key)
			q.Add("a")
		}, "queue.added", ""},
		"a Done before the key was added": {func(_ *trace.Recorder, q *queue.RateLimitingQueue[string]) {
			for range 2 {
				q.Add("a")
				key, _ := q.Get()
				q.Done(key)
			}
		}, "queue.got", "queue.added"},
		"a call before the distribution is reported": {func(r *trace.Recorder, _ *queue.RateLimitingQueue[string]) {
			r.Informer(in).Applied(applied)
			r.Informer(in).HandlerCalled(handler, applied.EventInfo)
		}, "informer.handlerCalled", "informer.applied"},
		"a list that was streamed": {func(r *trace.Recorder, _ *queue.RateLimitingQueue[string]) {
			reflection := r.Reflector(in)
			reflection.Bookmark("5", true)
			reflection.Listed(reflector.ListInfo{ResourceVersion: "5"})
		}, "reflector.listed", "reflector.bookmark"},
		"a deletion that a list shows": {func(r *trace.Recorder, _ *queue.RateLimitingQueue[string]) {
			r.Reflector(in).Event(reflector.EventInfo{Name: "b"})
			r.Reflector(in).PageListed(reflector.PageInfo{Page: 1})
			trace.FIFO[*api.Namespace](r, in).Queued("a", deltafifo.Tombstone("a", &api.Namespace{}), 1)
		}, "deltafifo.queued", "reflector.pageListed"},
		"a pass that is over": {func(r *trace.Recorder, q *queue.RateLimitingQueue[string]) {
			passes := r.Namespaces()
			passes.PassStarted("a")
			passes.PassDone("a", 0, 0, nil)
			q.AddAfter("a", time.Second)
		}, "queue.delayed", ""},
		"a pass that plans the next one": {func(r *trace.Recorder, q *queue.RateLimitingQueue[string]) {
			passes := r.Namespaces()
			passes.PassStarted("a")
			q.AddAfter("a", time.Second)
			passes.PassDone("a", 0, 0, nil)
		}, "queue.delayed", "nsctl.passStarted"},
		"a call that forgets a key": {func(r *trace.Recorder, q *queue.RateLimitingQueue[string]) {
			r.Informer(in).HandlerCalled(handler, applied.EventInfo)
			q.AddRateLimited("a")
			q.Forget("a")
		}, "queue.forgotten", "informer.handlerCalled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "run.jsonl")
				r, err := trace.Start(trace.Config{File: file})
				require.NoError(t, err)
				q := queue.NewRateLimiting(nil, queue.Config[string]{Trace: r.Queue("work")})
				c.run(r, q)
				q.ShutDown()
				r.Stop("over")
				events := recordedEvents(t, file)
				_, causes := last(events, c.what)
				var want []uint64
				if c.cause != "" {
					seq, _ := last(events, c.cause)
					want = []uint64{seq}
				}
				assert.Equal(t, want, causes)
			})
		})
	}
}

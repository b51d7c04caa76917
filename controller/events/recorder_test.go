package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/events"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

func TestAnEventNamesItsObject(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.note("blue", "NamespaceDeleted", "Emptied.")
		stored := s.events("default")
		require.Len(t, stored, 1)
		e := stored[0]
		now := api.NewTime(time.Now().UTC())
		assert.True(t, strings.HasPrefix(e.Name, "blue."), e.Name)
		assert.Equal(t, about("blue"), e.InvolvedObject)
		assert.Equal(t, api.EventSource{Component: "test", Host: "host-1"}, e.Source)
		assert.Equal(t, []any{api.EventNormal, "NamespaceDeleted", "Emptied.", 1, "test", "host-1"},
			[]any{e.Type, e.Reason, e.Message, e.Count, e.ReportingController, e.ReportingInstance})
		assert.True(t, e.FirstTimestamp.Equal(now.Time) && e.LastTimestamp.Equal(now.Time) && e.EventTime.IsZero())

		lease := api.ObjectReference{Kind: "Lease", APIVersion: "coordination.k8s.io/v1", Namespace: "kube-system",
			Name: "orrery"}
		s.recorder.Event(context.Background(), lease, api.EventNormal, "LeaderElection", "a became leader")
		assert.Len(t, s.events("kube-system"), 1, "an Event is in the namespace of its object")
	})
}

func TestRepeatedEventsAreCounted(t *testing.T) {
	inBubble(t, func(s *stage) {
		for range 5 {
			s.note("blue", "Blocked", "by a finalizer")
			time.Sleep(time.Minute)
		}
		s.note("red", "Blocked", "by a finalizer")
		stored := s.events("default")
		require.Len(t, stored, 2)
		assert.Equal(t, 5, stored[0].Count)
		assert.Equal(t, 4*time.Minute, stored[0].LastTimestamp.Sub(stored[0].FirstTimestamp.Time))
		assert.Equal(t, 1, stored[1].Count)
		assert.Equal(t, []int{2, 4}, []int{s.requests("POST"), s.requests("PATCH")})
		assert.Equal(t, events.Snapshot{Created: 2, Counted: 4, Dropped: none()}, s.recorder.Snapshot())
	})
}

func none() map[events.Drop]int64 {
	return map[events.Drop]int64{events.DropQueueFull: 0, events.DropLimited: 0, events.DropForbidden: 0,
		events.DropRefused: 0, events.DropGivenUp: 0, events.DropStopped: 0}
}

// The server deletes Events after an hour. The recorder then creates a new Event with the count
// so far.
func TestAnEventThatIsGoneIsCreatedAnew(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.note("blue", "Blocked", "by a finalizer")
		stored := s.events("default")
		s.Must("DELETE", "/api/v1/namespaces/default/events/"+stored[0].Name, "")
		time.Sleep(time.Minute)
		s.note("blue", "Blocked", "by a finalizer")
		again := s.events("default")
		require.Len(t, again, 1)
		assert.Equal(t, 2, again[0].Count)
		assert.Equal(t, stored[0].FirstTimestamp.Unix(), again[0].FirstTimestamp.Unix(), "its beginning")
		s.note("blue", "Blocked", "by a finalizer")
		assert.Equal(t, 3, s.events("default")[0].Count)
	})
}

func TestAnObjectCannotBeTheSubjectOfAFlood(t *testing.T) {
	inBubble(t, func(s *stage) {
		for i := range 100 {
			s.note("blue", fmt.Sprintf("Reason%d", i), "something")
		}
		s.note("red", "Other", "something")
		assert.Len(t, s.events("default"), 26, "Events of one moment have different names")
		assert.EqualValues(t, 75, s.recorder.Snapshot().Dropped[events.DropLimited])
		time.Sleep(5 * time.Minute)
		s.note("blue", "Later", "something")
		s.note("blue", "TooMany", "something")
		assert.Len(t, s.events("default"), 27, "one in five minutes")
	})
}

// Without the right to create Events the recorder drops them, and tries again after a while.
func TestForbiddenEventsAreLeft(t *testing.T) {
	inBubble(t, func(s *stage) {
		heal := s.Fault("forbid:verb=create|patch,resource=events")
		for i := range 50 {
			s.note(fmt.Sprintf("ns-%d", i), "NamespaceDeleted", "Emptied.")
		}
		assert.Equal(t, 1, s.requests("POST"))
		assert.Equal(t, 1, strings.Count(strings.Join(s.hooks(), "\n"), "muted default 10m0s"))
		heal()
		s.note("blue", "NamespaceDeleted", "Emptied.")
		assert.Equal(t, 1, s.requests("POST"), "no request for ten minutes")
		time.Sleep(10 * time.Minute)
		s.note("red", "NamespaceDeleted", "Emptied.")
		assert.Len(t, s.events("default"), 1)
		assert.EqualValues(t, 51, s.recorder.Snapshot().Dropped[events.DropForbidden])
	})
}

// Without the right to patch, the first of each Event is recorded.
func TestForbiddenCountingLeavesTheFirst(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.Fault("forbid:verb=patch,resource=events")
		for range 3 {
			s.note("blue", "Blocked", "by a finalizer")
		}
		s.note("red", "Blocked", "by a finalizer")
		assert.Len(t, s.events("default"), 2)
		assert.Equal(t, 1, s.requests("PATCH"))
	})
}

// A namespace that is being deleted accepts no Events. This does not affect other namespaces, nor
// a later one.
func TestTerminatingNamespacesTakeNone(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"going"}}`)
		s.Must("DELETE", "/api/v1/namespaces/going", "")
		for range 2 {
			s.recorder.Event(context.Background(), api.ObjectReference{Kind: "Pod", Namespace: "going", Name: "p"},
				api.EventNormal, "R", "m")
		}
		assert.Equal(t, []string{"dropped m: refused", "dropped m: refused"}, s.hooks())
	})
}

// The recorder tries an unreachable server twelve times, about ten seconds apart. Events that
// arrive meanwhile wait.
func TestAServerThatIsAwayIsTriedAgain(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.Link.Refuse(true)
		s.note("blue", "R", "first")
		s.note("red", "R", "second")
		time.Sleep(time.Minute)
		s.Link.Refuse(false)
		time.Sleep(10 * time.Second)
		stored := s.events("default")
		require.Len(t, stored, 2)
		assert.Equal(t, time.Minute, time.Since(stored[0].LastTimestamp.Time).Truncate(time.Minute),
			"the time of the event, not of the request")
		reported := s.hooks()
		assert.Equal(t, []string{"recorded first", "recorded second"}, reported[len(reported)-2:])

		s.Link.Refuse(true)
		s.Link.CloseConnections()
		s.note("green", "R", "third")
		time.Sleep(2 * time.Minute)
		reported = s.hooks()
		assert.Equal(t, "dropped third: given up", reported[len(reported)-1])
		assert.Len(t, reported, 12)
	})
}

// Event never blocks, whatever the server does.
func TestEventsBeyondTheQueueAreDropped(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.Link.Refuse(true)
		began := time.Now()
		for i := range 1500 {
			s.note(fmt.Sprintf("ns-%d", i), "R", "m")
		}
		assert.Zero(t, time.Since(began))
		synctest.Wait()
		snapshot := s.recorder.Snapshot()
		assert.EqualValues(t, 1500, snapshot.Dropped[events.DropQueueFull]+int64(snapshot.Waiting)+1,
			"one is being sent")
		assert.GreaterOrEqual(t, snapshot.Waiting, 999)
		began = time.Now()
		s.recorder.Stop(2 * time.Second)
		assert.Equal(t, 2*time.Second, time.Since(began), "Stop does not wait for the server")
		s.note("late", "R", "m")
		snapshot = s.recorder.Snapshot()
		assert.Zero(t, snapshot.Waiting)
		assert.EqualValues(t, 1501, snapshot.Dropped[events.DropQueueFull]+snapshot.Dropped[events.DropStopped])
	})
}

func TestStopSendsWhatWaits(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.Fault("delay:by=10ms,resource=events")
		for i := range 20 {
			s.note(fmt.Sprintf("ns-%d", i), "R", "m")
		}
		began := time.Now()
		s.recorder.Stop(2 * time.Second)
		assert.Less(t, time.Since(began), time.Second)
		assert.Len(t, s.events("default"), 20)
	})
}

// A server that accepts a request and does not answer is handled like one that is unreachable.
func TestAServerThatDoesNotAnswerIsTriedAgain(t *testing.T) {
	inBubble(t, func(s *stage) {
		heal := s.Fault("delay:by=10m,resource=events,verb=create")
		s.note("blue", "R", "m")
		time.Sleep(20 * time.Second)
		heal()
		time.Sleep(30 * time.Second)
		assert.Len(t, s.events("default"), 1)
	})
}

// A hook that panics costs at most its Event, neither the recorder nor the process.
func TestAHookThatPanicsDoesNotEndTheRecorder(t *testing.T) {
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
	var reported atomic.Int32
	defer wait.PanicHandlers.Replace(func(context.Context, *wait.Panic) { reported.Add(1) })()
	inBubble(t, func(s *stage) {
		recorder := events.Start(events.Config{Client: s.client, Component: "test", Trace: &events.Trace{
			Recorded: func(context.Context, *api.Event) { panic("a fault") },
		}})
		for _, name := range []string{"blue", "red"} {
			recorder.Event(context.Background(), about(name), api.EventNormal, "NamespaceDeleted", "Emptied.")
			synctest.Wait()
		}
		recorder.Event(context.Background(), about("green"), api.EventNormal, "NamespaceDeleted", "Emptied.")
		recorder.Stop(time.Minute)
		assert.Len(t, s.events("default"), 3)
		assert.Equal(t, int32(3), reported.Load())
	})
}

func TestLongNamesAndMessagesAreCut(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.note(strings.Repeat("n", 253), "R", strings.Repeat("é", 1000))
		stored := s.events("default")
		require.Len(t, stored, 1)
		assert.LessOrEqual(t, len(stored[0].Name), 253)
		assert.LessOrEqual(t, len(stored[0].Message), 1024)
		assert.True(t, strings.HasSuffix(stored[0].Message, "é..."))
	})
}

// The requests of an Event have the origin of the context it was recorded with, even after that
// context has ended.
func TestRequestsKeepTheirOrigin(t *testing.T) {
	inBubble(t, func(s *stage) {
		var origins []string
		client := s.Client(func(c *restclient.Config) {
			c.Trace = &restclient.Trace{RequestStart: func(i restclient.RequestInfo) {
				origins = append(origins,
					i.Origin)
			}}
		})
		recorder := events.Start(events.Config{Client: client, Component: "test"})
		ctx, cancel := context.WithCancel(restclient.WithOrigin(context.Background(), "pass-1"))
		cancel()
		recorder.Event(ctx, about("blue"), api.EventNormal, "R", "m")
		recorder.Stop(time.Minute)
		assert.Equal(t, []string{"pass-1"}, origins)
	})
}

func TestWireFormat(t *testing.T) {
	at := api.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC))
	text, err := json.Marshal(&api.Event{Type: api.EventNormal, FirstTimestamp: at, Count: 1})
	require.NoError(t, err)
	assert.JSONEq(t,
		`{"metadata":{},"involvedObject":{},"type":"Normal","firstTimestamp":"2026-01-02T03:04:05Z","count":1,
		"eventTime":null,"reportingComponent":"","reportingInstance":""}`, string(text))
}

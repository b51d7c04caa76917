package events_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/events"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
)

// stage is the built-in API server with a recorder at the other end of a pipe.
type stage struct {
	*clustertest.Cluster
	t        *testing.T
	client   *restclient.Client
	recorder *events.Recorder
	origins  []string // of the requests
	dropped  []string // message, reason, and whether the server has answered
}

// inBubble runs a test on a stage. At the end it stops the recorder and checks that no goroutine
// is left.
func inBubble(t *testing.T, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{Cluster: clustertest.New(t), t: t}
		s.client = s.Client(func(c *restclient.Config) {
			c.Trace = &restclient.Trace{RequestStart: func(i restclient.RequestInfo) {
				s.origins = append(s.origins, i.Origin)
			}}
		})
		s.recorder = events.Start(events.Config{Client: s.client, Component: "test", Instance: "host-1",
			Trace: &events.Trace{Dropped: func(_ context.Context, e *api.Event, why events.Drop, err error) {
				s.dropped = append(s.dropped, fmt.Sprintf("%s: %s, answer %v", e.Message, why, err != nil))
			}}})
		defer s.recorder.Stop(time.Minute)
		play(s)
	})
}

// note records an Event about a Namespace of that name.
func (s *stage) note(name, reason, message string) {
	s.recorder.Event(context.Background(), about(name), api.EventNormal, reason, message)
	synctest.Wait()
}

func about(name string) api.ObjectReference {
	return api.ObjectReference{Kind: "Namespace", APIVersion: "v1", Name: name, UID: "uid-of-" + name,
		ResourceVersion: time.Now().Format(time.StampNano)} // each Event is about a newer version
}

// events returns the Events in a namespace, oldest first.
func (s *stage) events(namespace string) []*api.Event {
	s.t.Helper()
	synctest.Wait()
	list, err := restclient.Typed[*api.Event](s.Admin(), api.EventsResource, namespace).List(context.Background(),
		api.ListOptions{})
	require.NoError(s.t, err)
	slices.SortFunc(list.Items, func(a, b *api.Event) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

// requests returns the number of requests for Events.
func (s *stage) requests(method string) int {
	synctest.Wait()
	n := 0
	for _, r := range s.Link.Requests() {
		if r.Method == method && strings.Contains(r.Path, "/events") {
			n++
		}
	}
	return n
}

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
		body, err := s.Request("GET", "/api/v1/namespaces/default/events/"+e.Name, "")
		require.NoError(t, err)
		for _, field := range []string{`"reportingComponent":"test"`, `"eventTime":null`,
			`"firstTimestamp":"` + now.Format(time.RFC3339) + `"`} {
			assert.Contains(t, string(body), field)
		}

		lease := api.ObjectReference{Kind: "Lease", APIVersion: "coordination.k8s.io/v1", Namespace: "kube-system",
			Name: "orrery"}
		ctx, cancel := context.WithCancel(restclient.WithOrigin(context.Background(), "pass-1"))
		cancel()
		s.recorder.Event(ctx, lease, api.EventNormal, "LeaderElection", "a became leader")
		assert.Len(t, s.events("kube-system"), 1, "an Event is in the namespace of its object")
		assert.Equal(t, "pass-1", s.origins[1], "the requests of an Event have its origin")

		s.note(strings.Repeat("n", 253), "R", strings.Repeat("é", 1000))
		long := s.events("default")[1]
		assert.LessOrEqual(t, len(long.Name), 253)
		assert.LessOrEqual(t, len(long.Message), 1024)
		assert.True(t, strings.HasSuffix(long.Message, "é..."))
	})
}

// The server deletes Events after an hour. The recorder then creates a new Event with the count
// so far.
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
		assert.Equal(t, events.Snapshot{Recorded: 6, Dropped: map[events.Drop]int64{}}, s.recorder.Snapshot())

		s.Must("DELETE", "/api/v1/namespaces/default/events/"+stored[0].Name, "")
		s.note("blue", "Blocked", "by a finalizer")
		again := s.events("default")[0]
		assert.Equal(t, 6, again.Count)
		assert.Equal(t, stored[0].FirstTimestamp.Unix(), again.FirstTimestamp.Unix(), "its beginning")
		s.note("blue", "Blocked", "by a finalizer")
		assert.Equal(t, 7, s.events("default")[0].Count)
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
		assert.Equal(t, "Emptied.: forbidden, answer true", s.dropped[0])
		assert.Equal(t, "Emptied.: forbidden, answer false", s.dropped[1])
		heal()
		s.note("blue", "NamespaceDeleted", "Emptied.")
		assert.Equal(t, 1, s.requests("POST"), "no request for ten minutes")
		time.Sleep(10 * time.Minute)
		s.note("red", "NamespaceDeleted", "Emptied.")
		assert.Len(t, s.events("default"), 1)
		assert.EqualValues(t, 51, s.recorder.Snapshot().Dropped[events.DropForbidden])
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
		synctest.Wait()
		assert.Equal(t, []string{"m: refused, answer true", "m: refused, answer true"}, s.dropped)
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
		assert.Equal(t, []string{"first", "second"}, []string{stored[0].Message, stored[1].Message})
		assert.Equal(t, time.Minute, time.Since(stored[0].LastTimestamp.Time).Truncate(time.Minute),
			"the time of the event, not of the request")

		s.Link.Refuse(true)
		s.Link.CloseConnections()
		synctest.Wait()
		tries := len(s.origins)
		s.note("green", "R", "third")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"third: given up, answer true"}, s.dropped)
		assert.Equal(t, 12, len(s.origins)-tries)
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

// Event never blocks, whatever the server does.
func TestEventsBeyondTheQueueAreDropped(t *testing.T) {
	inBubble(t, func(s *stage) {
		s.Link.Refuse(true)
		began := time.Now()
		for i := range 1500 {
			s.note(fmt.Sprintf("ns-%d", i), "R", "m")
		}
		assert.Zero(t, time.Since(began))
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

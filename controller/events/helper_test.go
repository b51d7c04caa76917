package events_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

	mu       sync.Mutex
	reported []string // the calls of the recorder's hooks
}

// inBubble runs a test on a stage. At the end it stops the recorder and checks that no goroutine
// is left.
func inBubble(t *testing.T, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{Cluster: clustertest.New(t), t: t}
		s.client = s.Client()
		s.recorder = events.Start(events.Config{Client: s.client, Component: "test", Instance: "host-1",
			Trace: s.trace()})
		defer s.recorder.Stop(time.Minute)
		play(s)
	})
}

func (s *stage) trace() *events.Trace {
	tell := func(parts ...string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reported = append(s.reported, strings.Join(parts, " "))
	}
	return &events.Trace{
		Recorded: func(_ context.Context, e *api.Event) { tell("recorded", e.Message) },
		Dropped: func(_ context.Context, e *api.Event, why events.Drop, _ error) {
			tell("dropped", e.Message+":", string(why))
		},
		Suppressed: func(_ context.Context, namespace string, _ error, pause time.Duration) {
			tell("muted", namespace, pause.String())
		},
		Retry: func(_ context.Context, e *api.Event, _ error, _ time.Duration) { tell("retry", e.Message) },
	}
}

// hooks returns the hook calls since the last call of hooks, once all goroutines are idle.
func (s *stage) hooks() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	reported := s.reported
	s.reported = nil
	return reported
}

// note records an Event about a Namespace of that name.
func (s *stage) note(name, reason, message string) {
	s.recorder.Event(context.Background(), about(name), api.EventNormal, reason, message)
}

func about(name string) api.ObjectReference {
	return api.ObjectReference{Kind: "Namespace", APIVersion: "v1", Name: name, UID: "uid-of-" + name,
		ResourceVersion: "7"}
}

// events returns the Events in a namespace, oldest first.
func (s *stage) events(namespace string) []*api.Event {
	s.t.Helper()
	synctest.Wait()
	list, err := restclient.Typed[*api.Event](s.client, api.EventsResource, namespace).List(context.Background(),
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

package controllers_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/controllers"
	"orrery/internal/observe/debugserver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// sick is a controller that is unhealthy until it is stopped.
type sick struct{ runs }

func (sick) Healthy() error { return io.ErrNoProgress }

// idle is a controller that waits for something outside of the API server.
type idle struct{ runs }

func (idle) Waiting() error { return errors.New("the driver does not work") }

// Each controller has a check of its own, and a restart of the process is asked for only if that
// would help.
func TestHealthOfEachController(t *testing.T) {
	server, err := debugserver.Start(debugserver.Config{Address: "127.0.0.1:0"})
	require.NoError(t, err)
	defer server.Stop()
	ask := func(path string) string {
		answer, err := http.Get("http://" + server.Addr() + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return string(text)
	}
	client, err := restclient.New(restclient.Config{Host: "http://127.0.0.1:1", UserAgent: "orrery/test"})
	require.NoError(t, err)
	until := func(stop, _ context.Context) { <-stop.Done() }
	making := func(c controllers.Controller) controllers.Initializer {
		return func(shared controllers.ControllerContext) (controllers.Controller, error) {
			shared.Show("controller/"+shared.Name, func() any { return struct{ Color string }{"green"} })
			shared.Recorder().Event(t.Context(), api.ObjectReference{}, api.EventNormal, "Nothing", "is recorded")
			assert.Nil(t, shared.QueueMetrics())
			return c, nil
		}
	}
	m := controllers.NewManager(controllers.Shared{Client: client, Server: server}, []controllers.Descriptor{
		{Name: "good", New: making(runs(until))},
		{Name: "bad", New: making(sick{until})},
		{Name: "idle", New: making(idle{until})},
		{Name: "gone", New: making(runs(func(context.Context, context.Context) { panic("broken") }))},
	})
	assert.Equal(t, "ok", ask("/healthz/gone"), "it has not begun")
	require.NoError(t, m.Prepare(t.Context(), t.Context()))
	assert.NoError(t, m.Synced())
	stop, stopNow := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); m.Work(stop, t.Context()) }()
	require.Eventually(t, func() bool { return m.Snapshot()[3].State == controllers.Ended }, 10*time.Minute, time.Millisecond)
	assert.Equal(t, "ok", ask("/healthz/good"))
	assert.Contains(t, ask("/livez/bad"), io.ErrNoProgress.Error())
	assert.Contains(t, ask("/healthz/gone"), "panic: broken")
	assert.Equal(t, "ok", ask("/healthz/idle"), "a restart would not help")
	require.Eventually(t, func() bool {
		return m.Snapshot()[2] == controllers.Status{Name: "idle", State: controllers.Waiting, Why: "the driver does not work"}
	}, 10*time.Minute, time.Millisecond)
	shown := ask("/debug/orrery")
	assert.Contains(t, shown, `"controllers":[{"name":"good",`)
	assert.Contains(t, shown, `"controller":{"good":{"color":"green"},"bad":`)
	assert.Contains(t, shown, `"client":{"shared-informers":{`)
	stopNow()
	<-ended
	m.Shutdown()
	assert.Equal(t, "ok", ask("/healthz/good"), "it was stopped")
}

// The Events of the process itself are sent at the end.
func TestEventsOfTheProcess(t *testing.T) {
	inBubble(t, func(s *stage) {
		var a tiny
		m := controllers.NewManager(s.shared(), []controllers.Descriptor{a.describe("a", nil)})
		lease := api.ObjectReference{Kind: "Lease", Namespace: "kube-system", Name: "orrery"}
		m.Recorder().Event(s.t.Context(), lease, api.EventNormal, "LeaderElection", "I became leader")
		m.Shutdown()
		assert.Contains(t, s.events(), "orrery: Lease orrery: LeaderElection: I became leader")
		assert.Contains(t, strings.Join(s.metric("orrery_events_recorded_total"), ""), "orrery_events_recorded_total 1")
	})
}

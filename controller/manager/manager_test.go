package manager_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/manager"
	"orrery/internal/observe/web"
	"orrery/restclient"
	"orrery/restclient/api"
)

// The article's reason for one factory: each informer keeps a watch open, and controllers share it.
func TestOneWatchForEachTypeHoweverManyControllers(t *testing.T) {
	eachGears(t, func(s *stage, shared manager.Shared) {
		var a, b, c tiny
		show := s.begin(shared, a.describe("a", nil, configMaps), b.describe("b", nil, configMaps, secrets),
			c.describe("c", nil, secrets, configMaps))
		defer show.end()
		for range 20 {
			time.Sleep(time.Minute) // watches end and are opened again
		}
		synctest.Wait()
		assert.Equal(t, map[string]int{"/api/v1/configmaps": 1, "/api/v1/secrets": 1}, s.watches.Open())
		assert.Equal(t, map[string]int{"/api/v1/configmaps": 1, "/api/v1/secrets": 1}, s.watches.Most())
		s.createConfigMap("x")
		for _, controller := range []*tiny{&a, &b, &c} {
			assert.Contains(t, controller.seen(), "default/x", "each of them has a handler")
		}
		assert.Contains(t, s.metric("orrery_controller_passes_total"),
			`orrery_controller_passes_total{controller="a",result="done"} 1`)
		running := s.metric("running_managed_controllers")
		assert.Contains(t, running, `running_managed_controllers{manager="orrery",name="c"} 1`)
		assert.Contains(t, s.metric("workqueue_adds_total"), `workqueue_adds_total{name="b"} 1`)
	})
}

// The logs of the API server show which controller has asked for what, and each has a limit of its
// own.
func TestEachControllerHasAClientOfItsOwn(t *testing.T) {
	inBubble(t, func(s *stage) {
		var a, b tiny
		request := func(controller *tiny) func(context.Context, string) {
			return func(ctx context.Context, key string) {
				_, name, _ := strings.Cut(key, "/")
				path := "/api/v1/namespaces/default/configmaps/" + name
				_ = controller.client.Do(ctx, restclient.Request{Path: path}, nil)
			}
		}
		first := a.describe("a", request(&a), configMaps)
		first.QPSFactor, first.BurstFactor = 3, 4
		shared := s.shared()
		shared.QPS, shared.Burst = 10, 20
		show := s.begin(shared, first, b.describe("b", request(&b), configMaps))
		defer show.end()
		s.createConfigMap("x")
		agents := map[string]string{}
		for _, r := range s.Link.Requests() {
			if agent := r.Header.Get("User-Agent"); strings.HasPrefix(agent, "orrery/test") {
				agents[agent+" "+r.Path] = r.Method
			}
		}
		assert.Equal(t, map[string]string{
			"orrery/test /api/v1":                                   "GET",
			"orrery/test shared-informers /api/v1/configmaps":       "GET",
			"orrery/test a /api/v1/namespaces/default/configmaps/x": "GET",
			"orrery/test b /api/v1/namespaces/default/configmaps/x": "GET",
		}, agents)
		assert.Equal(t, float32(30), a.client.Snapshot().QPS)
		assert.Equal(t, 80, a.client.Snapshot().Burst, "the burst has a factor of its own")
		assert.Equal(t, float32(10), b.client.Snapshot().QPS)
	})
}

// A controller whose resource the server does not have is left out, and the others work.
func TestAResourceThatIsMissing(t *testing.T) {
	inBubble(t, func(s *stage) {
		var gizmo, other tiny
		show := s.begin(s.shared(),
			gizmo.describe("gizmo-controller", nil, gizmos), other.describe("other", nil, configMaps))
		defer show.end()
		require.NoError(t, show.Synced(), "it is no reason not to be ready")
		assert.Equal(t, []manager.Status{
			{Name: "gizmo-controller", State: manager.Missing, Why: "the API server does not have gizmos.example.com"},
			{Name: "other", State: manager.Running},
		}, show.Snapshot())
		assert.Len(t, s.log.Lines("controller does not start"), 1)
		s.createConfigMap("x")
		assert.Equal(t, []string{"default/x"}, other.seen())
	})
}

// A standby has warm stores, and works only when it leads. One that never got to work gives back
// what it has.
func TestAStandby(t *testing.T) {
	inBubble(t, func(s *stage) {
		var a, b tiny
		show := s.standBy(s.shared(), a.describe("a", nil, configMaps))
		s.createConfigMap("one")
		assert.Equal(t, []manager.Status{{Name: "a", State: manager.Standby}}, show.Snapshot())
		require.NoError(t, show.Synced())
		assert.Empty(t, a.seen())
		show.work()
		synctest.Wait()
		assert.Equal(t, []string{"default/one"}, a.seen())
		show.end()
		assert.Equal(t, []manager.Status{{Name: "a", State: manager.Ended}}, show.Snapshot())
		show = s.standBy(s.shared(), b.describe("b", nil, configMaps))
		show.end()
		assert.Len(t, s.log.Lines("controller started"), 1)
		assert.True(t, b.Snapshot().Queue.ShuttingDown)
	})
}

// A controller without a right works when it is granted. The store that is not filled has a name.
func TestARightThatIsMissing(t *testing.T) {
	eachGears(t, func(s *stage, shared manager.Shared) {
		var secret, other tiny
		heal := s.Fault("forbid:verb=list|watch,resource=secrets")
		show := s.begin(shared,
			secret.describe("secret-controller", nil, secrets), other.describe("other", nil, configMaps))
		defer show.end()
		later(5 * time.Minute)
		s.createConfigMap("x")
		assert.Equal(t, []string{"default/x"}, other.seen())
		require.ErrorContains(t, show.Synced(), "secrets")
		assert.Regexp(t, `informer="secrets"} [1-9]`, strings.Join(s.metric("orrery_reflector_errors_total"), "\n"),
			"failed lists are counted")
		s.Must(http.MethodPost, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`)
		heal()
		later(2 * time.Minute)
		assert.Contains(t, secret.seen(), "default/s")
		assert.NoError(t, show.Synced())
	})
}

// What one controller does wrong is its own affair.
func TestAPanicOrAStuckWorkerDoesNotDisturbOthers(t *testing.T) {
	inBubble(t, func(s *stage) {
		stuck := make(chan struct{})
		var good, panics, hangs tiny
		shared := s.shared()
		shared.DrainTimeout = 30 * time.Second
		show := s.begin(shared, good.describe("good", nil, configMaps),
			hangs.describe("hangs", func(context.Context, string) { <-stuck }, configMaps),
			panics.describe("panics", func(context.Context, string) { panic("broken") }, configMaps),
			describe("returns", func(context.Context, context.Context) {}),
			describe("crashes", func(context.Context, context.Context) { panic("broken") }),
		)
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			s.createConfigMap(name)
		}
		time.Sleep(10 * time.Minute)
		assert.Len(t, good.seen(), 7)
		assert.Empty(t, panics.seen())
		assert.NotEmpty(t, s.log.Lines("pass panicked"))
		require.Error(t, hangs.Healthy())
		assert.Contains(t, s.metric("workqueue_longest_running_processor_seconds"),
			`workqueue_longest_running_processor_seconds{name="hangs"} 600`, "its gauges are set when they are read")
		assert.Contains(t, s.metric("running_managed_controllers"),
			`running_managed_controllers{manager="orrery",name="crashes"} 0`, "it does not run any more")
		assert.Equal(t, []manager.Status{
			{Name: "good", State: manager.Running},
			{Name: "hangs", State: manager.Running},
			{Name: "panics", State: manager.Running},
			{Name: "returns", State: manager.Ended, Why: "it returned without being stopped"},
			{Name: "crashes", State: manager.Ended, Why: "panic: broken"},
		}, show.Snapshot())
		assert.Len(t, s.log.Lines("controller has ended"), 2)

		began := time.Now()
		show.stop()
		require.NoError(t, <-show.ended)
		assert.Equal(t, 35*time.Second, time.Since(began), "the others do not wait for it forever")
		assert.Len(t, s.log.Lines("did not stop in time"), 1)
		assert.Equal(t, []string{"hangs"}, show.Left())
		close(stuck)
	})
}

// What was not finished in time is named, for the exit code and the log. A controller that does not
// return when the Lease is lost does not keep the program from ending.
func TestWhatIsLeft(t *testing.T) {
	inBubble(t, func(s *stage) {
		var quick, slow tiny
		show := s.begin(s.shared(), quick.describe("quick", nil, configMaps),
			slow.describe("slow", func(ctx context.Context, _ string) { <-ctx.Done() }, configMaps))
		s.createConfigMap("x")
		show.stop()
		<-show.ended
		assert.Equal(t, []string{"slow default/x"}, show.Left())

		stuck := make(chan struct{})
		defer close(stuck)
		show = s.begin(s.shared(), describe("hangs", func(context.Context, context.Context) { <-stuck }))
		began := time.Now()
		show.end()
		assert.Equal(t, 5*time.Second, time.Since(began), "when a controller that does not return was abandoned")
		assert.Equal(t, []string{"hangs"}, show.Left())
	})
}

// runs is a controller that is no more than this function.
type runs func(stop, alive context.Context)

func (r runs) RunWithin(stop, alive context.Context) { r(stop, alive) }

func describe(name string, run runs) manager.Descriptor {
	set := func(manager.ControllerContext) (manager.Controller, error) { return run, nil }
	return manager.Descriptor{Name: name, New: set}
}

func TestSetUpsThatFail(t *testing.T) {
	failing := func(err error) manager.Initializer {
		return func(manager.ControllerContext) (manager.Controller, error) {
			if err == nil {
				panic("a fault")
			}
			return nil, err
		}
	}
	inBubble(t, func(s *stage) {
		run := func(ctx context.Context, d manager.Descriptor) error {
			return manager.NewManager(s.shared(), []manager.Descriptor{d}).Run(ctx)
		}
		assert.EqualError(t, run(s.t.Context(), manager.Descriptor{Name: "b", New: failing(errors.New("broken"))}),
			"starting b: broken")
		assert.EqualError(t, run(s.t.Context(), manager.Descriptor{Name: "b", New: failing(nil)}),
			"starting b: panic: a fault")

		var a tiny
		s.Fault("internal-error")
		err := run(s.t.Context(), a.describe("a", nil, configMaps))
		failed, _ := errors.AsType[*manager.DiscoveryError](err)
		require.NotNil(t, failed)
		assert.ErrorContains(t, err, "discovering resources: ")
		assert.ErrorIs(t, err, failed.Err)
		stopped, stop := context.WithCancel(s.t.Context())
		stop()
		assert.NoError(t, run(stopped, a.describe("a", nil, configMaps)), "it was stopped before it was set up")
	})
}

// sick is a controller that is unhealthy until it is stopped.
type sick struct{ runs }

func (sick) Healthy() error { return io.ErrNoProgress }

// Each controller has a check of its own, and a restart of the process is asked for only if that
// would help.
func TestHealthOfEachController(t *testing.T) {
	server, err := web.StartDebug(web.DebugConfig{Address: "127.0.0.1:0"})
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
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	client, err := restclient.New(restclient.Config{Host: nothing.URL, UserAgent: "orrery/test"})
	require.NoError(t, err)
	until := func(stop, _ context.Context) { <-stop.Done() }
	making := func(c manager.Controller) manager.Initializer {
		return func(shared manager.ControllerContext) (manager.Controller, error) {
			shared.Show("controller/"+shared.Name, func() any { return struct{ Color string }{"green"} })
			shared.Recorder().Event(t.Context(), api.ObjectReference{}, api.EventNormal, "Nothing", "is recorded")
			assert.Nil(t, shared.QueueMetrics())
			return c, nil
		}
	}
	m := manager.NewManager(manager.Shared{Client: client, Server: server}, []manager.Descriptor{
		{Name: "good", New: making(runs(until))},
		{Name: "bad", New: making(sick{until})},
		{Name: "gone", New: making(runs(func(context.Context, context.Context) { panic("broken") }))},
		{Name: "lacking", Needs: []api.GroupVersionResource{gizmos}},
	})
	assert.Equal(t, "ok", ask("/healthz/gone"), "it has not begun")
	require.Error(t, m.Synced())
	stop, stopNow := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(stop) }()
	require.Eventually(t, func() bool { return m.Snapshot()[2].State == manager.Ended }, 10*time.Minute,
		time.Millisecond)
	assert.NoError(t, m.Synced())
	assert.Equal(t, "ok", ask("/healthz/good"))
	assert.Contains(t, ask("/livez/bad"), io.ErrNoProgress.Error())
	assert.Contains(t, ask("/healthz/gone"), "panic: broken")
	assert.Equal(t, manager.Missing, m.Snapshot()[3].State)
	assert.Equal(t, "ok", ask("/livez/lacking"), "a restart does not give the server the resource that it lacks")
	shown := ask("/debug/orrery")
	assert.Regexp(t, `"controllers":\[{[^}]*"name":"good"`, shown)
	assert.Regexp(t, `"controller":{"bad":.*"good":{"color":"green"}`, shown)
	assert.Regexp(t, `"client":{.*"shared-informers":{`, shown)
	stopNow()
	require.NoError(t, <-ended)
	assert.Equal(t, "ok", ask("/healthz/good"), "it was stopped")
}

// The Events of the process itself are sent at the end.
func TestEventsOfTheProcess(t *testing.T) {
	inBubble(t, func(s *stage) {
		lease := api.ObjectReference{Kind: "Lease", Namespace: "kube-system", Name: "orrery"}
		for _, dryRun := range []bool{true, false} {
			shared := s.shared()
			shared.DryRun = dryRun
			show := s.begin(shared)
			show.Recorder().Event(s.t.Context(), lease, api.EventNormal, "LeaderElection", "I became leader")
			show.end()
		}
		events := restclient.Typed[*api.Event](s.Admin(), api.EventsResource, "")
		list, err := events.List(s.t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 1, "a dry run records none")
		assert.Equal(t, []string{"orrery", "orrery", "I became leader"},
			[]string{list.Items[0].Source.Component, list.Items[0].InvolvedObject.Name, list.Items[0].Message})
		assert.Contains(t, strings.Join(s.metric("orrery_events_recorded_total"), ""), "orrery_events_recorded_total 1")
	})
}

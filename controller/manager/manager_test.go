package manager_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/manager"
	"orrery/informer"
	"orrery/internal/observe/web/debugserver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// The article's reason for one factory: each informer keeps a watch open, and controllers share it.
func TestOneWatchForEachTypeHoweverManyControllers(t *testing.T) {
	eachGears(t, func(s *stage, shared manager.Shared) {
		var a, b, c tiny
		show := s.begin(shared,
			a.describe("a", nil, configMaps), b.describe("b", nil, configMaps, secrets), c.describe("c", nil, secrets, configMaps))
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
		assert.Contains(t, s.metric("orrery_controller_passes_total"), `orrery_controller_passes_total{controller="a",result="done"} 1`)
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
				_ = controller.client.Do(ctx, requestFor("/api/v1/namespaces/default/configmaps/"+name), nil)
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
		assert.Equal(t, 80, a.client.Snapshot().Burst)
		assert.Equal(t, float32(10), b.client.Snapshot().QPS)
	})
}

// A controller whose resource is not there waits for it, works when it appears, waits when it is
// deleted, and goes on.
func TestAResourceThatComesAndGoes(t *testing.T) {
	eachGears(t, func(s *stage, shared manager.Shared) {
		var gizmo, other tiny
		show := s.begin(shared, gizmo.describe("gizmo-controller", nil, gizmos), other.describe("other", nil, configMaps))
		defer show.end()
		require.NoError(t, show.Synced(), "it is no reason not to be ready")
		assert.Equal(t, []manager.Status{
			{Name: "gizmo-controller", State: manager.Missing, Why: "the API server does not have gizmos.example.com"},
			{Name: "other", State: manager.Running},
		}, show.Snapshot())
		time.Sleep(time.Minute)
		assert.Len(t, s.log.Lines("controller waits"), 1, "logged once")
		s.createConfigMap("x")
		assert.Equal(t, []string{"default/x"}, other.seen())

		s.installGizmos()
		s.createGizmo("one")
		later(12 * time.Second)
		assert.Equal(t, []string{"default/one"}, gizmo.seen())
		assert.Equal(t, []manager.Status{{Name: "gizmo-controller", State: manager.Running},
			{Name: "other", State: manager.Running}}, show.Snapshot())
		asked := s.asked("/apis/example.com/v1")
		time.Sleep(time.Minute)
		assert.Equal(t, asked, s.asked("/apis/example.com/v1"), "no missing resource is looked for")

		s.Must(http.MethodDelete, definitions+"/gizmos.example.com", "")
		later(2 * time.Minute)
		assert.Equal(t, manager.Status{
			Name: "gizmo-controller", State: manager.Waiting, Why: "the API server does not have gizmos.example.com",
		}, show.Snapshot()[0])
		assert.Len(t, s.log.Lines("does not have its resource any more"), 1)
		assert.Contains(t, s.events(), "gizmo-controller: CustomResourceDefinition gizmos.example.com: ResourceMissing: "+
			"gizmo-controller waits, the API server does not have gizmos.example.com any more")
		s.createConfigMap("y")
		assert.Contains(t, other.seen(), "default/y", "the others are not affected")

		s.installGizmos()
		s.createGizmo("two")
		later(2 * time.Minute)
		assert.Contains(t, gizmo.seen(), "default/two")
		assert.Equal(t, manager.Status{Name: "gizmo-controller", State: manager.Running}, show.Snapshot()[0])
		assert.Len(t, s.log.Lines("can be watched again"), 1)
		assert.Equal(t, map[string]int{"/api/v1/configmaps": 1, "/apis/example.com/v1/gizmos": 1}, s.watches.Open())
	})
}

// sharer is a controller with informers of its own.
type sharer struct{ share func() }

func (sharer) RunWithin(stop, _ context.Context) { <-stop.Done() }

func (s sharer) ShareInformers() { s.share() }

// Otherwise a type would have two watches for a moment.
func TestInformersAreSharedBeforeNewOnesRun(t *testing.T) {
	inBubble(t, func(s *stage) {
		var gizmo tiny
		var asked []int
		sharing := manager.Descriptor{Name: "sharer", New: func(manager.ControllerContext) (manager.Controller, error) {
			return sharer{func() {
				time.Sleep(time.Second)
				asked = append(asked, s.asked("/apis/example.com/v1/gizmos"))
			}}, nil
		}}
		show := s.begin(s.shared(), sharing, gizmo.describe("gizmo-controller", nil, gizmos))
		defer show.end()
		s.installGizmos()
		time.Sleep(time.Minute)
		s.createGizmo("one")
		assert.Equal(t, []string{"default/one"}, gizmo.seen())
		assert.Equal(t, []int{0}, asked, "requests of the new informer when it is already running")
	})
}

// A standby sets up what appears as well, and works only when it leads.
func TestAResourceThatAppearsWhileStandingBy(t *testing.T) {
	inBubble(t, func(s *stage) {
		var gizmo tiny
		m, work := s.standBy(gizmo.describe("gizmo-controller", nil, gizmos))
		s.installGizmos()
		s.createGizmo("one")
		time.Sleep(time.Minute)
		assert.Equal(t, []manager.Status{{Name: "gizmo-controller", State: manager.Standby}}, m.Snapshot())
		require.NoError(t, m.Synced())
		assert.Empty(t, gizmo.seen())
		work(time.Minute)
		assert.Equal(t, []string{"default/one"}, gizmo.seen())
		assert.Equal(t, []manager.Status{{Name: "gizmo-controller", State: manager.Ended}}, m.Snapshot())
	})
}

// A missing right concerns every controller that uses the shared informer, and is reported with its
// name. Granting it suffices.
func TestARightThatIsMissing(t *testing.T) {
	eachGears(t, func(s *stage, shared manager.Shared) {
		var secret, both, other tiny
		heal := s.Fault("forbid:verb=list|watch,resource=secrets")
		show := s.begin(shared, secret.describe("secret-controller", nil, secrets),
			both.describe("both", nil, configMaps, secrets), other.describe("other", nil, configMaps))
		defer show.end()
		states := func() (states []manager.State) {
			for _, status := range show.Snapshot() {
				states = append(states, status.State)
			}
			return states
		}
		time.Sleep(5 * time.Minute)
		s.createConfigMap("x")
		assert.Equal(t, []string{"default/x"}, other.seen())
		require.ErrorContains(t, show.Synced(), "secrets")
		lines := s.log.Lines("has no right to watch its resource")
		require.Len(t, lines, 2, "logged once for each")
		assert.Contains(t, strings.Join(lines, "\n"), "controller=secret-controller")
		assert.Contains(t, lines[0], "orrery rbac --controllers")
		assert.Equal(t, []manager.State{manager.Waiting, manager.Waiting, manager.Running}, states())
		assert.Contains(t, show.Snapshot()[0].Why, "secrets is forbidden")
		assert.True(t, secret.available.Has(secrets), "the server has them and does not show them")
		assert.Contains(t, strings.Join(s.events(), ""), " waits, it has no right to watch secrets")

		s.create("/api/v1/namespaces/default/secrets", "s")
		heal()
		later(2 * time.Minute)
		assert.Contains(t, secret.seen(), "default/s")
		assert.NoError(t, show.Synced())
		assert.Equal(t, []manager.State{manager.Running, manager.Running, manager.Running}, states())
		assert.Empty(t, show.Snapshot()[0].Why)
	})
}

// A controller that leaves the informer of another one is not called afterwards: it may release
// what its callbacks use.
func TestLeavingASharedInformerWaitsForTheRunningCallback(t *testing.T) {
	eachGears(t, func(s *stage, shared manager.Shared) {
		var owner tiny
		called, returns := make(chan string), make(chan struct{})
		var leave func()
		join := func(c manager.ControllerContext) (manager.Controller, error) {
			handler := informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
				AddFunc: func(object *api.PartialObjectMetadata, _ bool) {
					called <- object.Name
					<-returns
				},
			}
			var ok bool
			_, leave, ok = manager.SharedHeads(c, configMaps, handler)
			assert.True(t, ok, "the owner has an informer")
			return runs(func(stop, _ context.Context) { <-stop.Done() }), nil
		}
		guest := manager.Descriptor{Name: "guest", New: join}
		show := s.begin(shared, owner.describe("owner", nil, configMaps), guest)
		defer show.end()
		s.createConfigMap("x")
		s.createConfigMap("y")
		assert.Equal(t, "x", <-called)
		left := make(chan struct{})
		go func() {
			defer close(left)
			leave()
		}()
		synctest.Wait()
		select {
		case <-left:
			t.Error("leave returned while a callback was running")
		default:
		}
		close(returns)
		select {
		case <-left:
		case name := <-called:
			t.Errorf("a callback for %s began after leave was called", name)
		}
	})
}

// What is wrong before a standby works is recorded when it does.
func TestARightThatIsMissingWhileStandingBy(t *testing.T) {
	inBubble(t, func(s *stage) {
		var secret tiny
		s.Fault("forbid:verb=list|watch,resource=secrets")
		_, work := s.standBy(secret.describe("secret-controller", nil, secrets))
		time.Sleep(time.Minute)
		assert.Len(t, s.log.Lines("has no right to watch its resource"), 1)
		assert.Empty(t, s.events())
		work(time.Minute)
		assert.Equal(t, []string{
			"secret-controller: APIService v1.: ResourceForbidden: " +
				"secret-controller waits, it has no right to watch secrets",
		}, s.events())
	})
}

// What one controller does wrong is its own affair.
func TestAPanicOrAStuckWorkerDoesNotDisturbOthers(t *testing.T) {
	inBubble(t, func(s *stage) {
		stuck := make(chan struct{})
		var good, panics, hangs tiny
		shared := s.shared()
		shared.DrainTimeout = 30 * time.Second
		show := s.begin(shared,
			good.describe("good", nil, configMaps),
			hangs.describe("hangs", func(context.Context, string) { <-stuck }, configMaps),
			panics.describe("panics", func(context.Context, string) { panic("broken") }, configMaps),
			manager.Descriptor{Name: "returns", New: func(manager.ControllerContext) (manager.Controller, error) {
				return runs(func(context.Context, context.Context) {}), nil
			}},
			manager.Descriptor{Name: "crashes", New: func(manager.ControllerContext) (manager.Controller, error) {
				return runs(func(context.Context, context.Context) { panic("broken") }), nil
			}},
		)
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			s.createConfigMap(name)
		}
		time.Sleep(10 * time.Minute)
		assert.Len(t, good.seen(), 7)
		assert.Empty(t, panics.seen())
		assert.NotEmpty(t, s.log.Lines("pass panicked"))
		require.Error(t, hangs.Healthy())
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
		<-show.ended
		assert.Equal(t, 35*time.Second, time.Since(began), "the others do not wait for it forever")
		assert.Len(t, s.log.Lines("did not stop in time"), 1)
		assert.Equal(t, []string{"hangs"}, *show.left)
		close(stuck)
		show.end()
	})
}

// What was not finished in time is named, for the exit code and the log.
func TestPassesThatAreCutShort(t *testing.T) {
	inBubble(t, func(s *stage) {
		var quick, slow tiny
		show := s.begin(s.shared(), quick.describe("quick", nil, configMaps),
			slow.describe("slow", func(ctx context.Context, _ string) { <-ctx.Done() }, configMaps))
		s.createConfigMap("x")
		show.stop()
		<-show.ended
		assert.Equal(t, []string{"slow default/x"}, *show.left)
		show.end()
	})
}

// runs is a controller that is no more than this function.
type runs func(stop, alive context.Context)

func (r runs) RunWithin(stop, alive context.Context) { r(stop, alive) }

func TestAnInitialiserThatFails(t *testing.T) {
	inBubble(t, func(s *stage) {
		broken := errors.New("broken")
		fails := manager.Descriptor{Name: "b", Needs: []api.GroupVersionResource{gizmos},
			New: func(manager.ControllerContext) (manager.Controller, error) { return nil, broken }}
		var a tiny
		show := s.begin(s.shared(), a.describe("a", nil, configMaps), fails)
		s.installGizmos()
		time.Sleep(time.Minute)
		assert.Equal(t, []manager.Status{
			{Name: "a", State: manager.Running}, {Name: "b", State: manager.Ended, Why: "broken"},
		}, show.Snapshot(), "it fails when it could have begun, and the others continue")
		show.end()

		m := manager.NewManager(s.shared(), []manager.Descriptor{a.describe("a", nil, configMaps), fails})
		err := m.Prepare(s.t.Context(), s.t.Context())
		require.ErrorIs(t, err, broken, "at the start it is a reason not to start")
		assert.ErrorContains(t, err, "starting b: ")
		m.Shutdown()
		require.ErrorContains(t, m.Prepare(s.t.Context(), s.t.Context()), "starting b: ")
	})
}

func TestAServerWhoseDiscoveryFails(t *testing.T) {
	inBubble(t, func(s *stage) {
		var a tiny
		s.Fault("internal-error")
		ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
		defer cancel()
		m := manager.NewManager(s.shared(), []manager.Descriptor{a.describe("a", nil, configMaps)})
		var failed *manager.DiscoveryError
		err := m.Prepare(ctx, s.t.Context())
		require.ErrorAs(t, err, &failed)
		assert.ErrorContains(t, err, "discovering resources: ")
		assert.ErrorIs(t, err, failed.Err)
		m.Shutdown()
	})
}

// Controllers that never got to work give back what they have.
func TestControllersThatMayNotWork(t *testing.T) {
	inBubble(t, func(s *stage) {
		var a tiny
		m := manager.NewManager(s.shared(), []manager.Descriptor{a.describe("a", nil, configMaps)})
		lifetime, end := context.WithCancel(s.t.Context())
		require.Error(t, m.Synced())
		require.NoError(t, m.Prepare(s.t.Context(), lifetime))
		ended, cancel := context.WithCancel(s.t.Context())
		cancel()
		m.Work(ended, ended)
		assert.Empty(t, s.log.Lines("controller started"))
		assert.True(t, a.Snapshot().Queue.ShuttingDown)
		end()
		m.Shutdown()
	})
}

// sick is a controller that is unhealthy until it is stopped.
type sick struct{ runs }

func (sick) Healthy() error { return io.ErrNoProgress }

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
	})
	assert.Equal(t, "ok", ask("/healthz/gone"), "it has not begun")
	require.NoError(t, m.Prepare(t.Context(), t.Context()))
	assert.NoError(t, m.Synced())
	stop, stopNow := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); m.Work(stop, t.Context()) }()
	require.Eventually(t, func() bool { return m.Snapshot()[2].State == manager.Ended }, 10*time.Minute,
		time.Millisecond)
	assert.Equal(t, "ok", ask("/healthz/good"))
	assert.Contains(t, ask("/livez/bad"), io.ErrNoProgress.Error())
	assert.Contains(t, ask("/healthz/gone"), "panic: broken")
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
		m := manager.NewManager(s.shared(), []manager.Descriptor{a.describe("a", nil)})
		lease := api.ObjectReference{Kind: "Lease", Namespace: "kube-system", Name: "orrery"}
		m.Recorder().Event(s.t.Context(), lease, api.EventNormal, "LeaderElection", "I became leader")
		m.Shutdown()
		assert.Contains(t, s.events(), "orrery: Lease orrery: LeaderElection: I became leader")
		assert.Contains(t, strings.Join(s.metric("orrery_events_recorded_total"), ""), "orrery_events_recorded_total 1")
	})
}

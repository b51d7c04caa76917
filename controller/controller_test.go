package controller_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/internal/lab/clustertest"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// world is a cluster, and a manager whose controllers a test sets up.
type world struct {
	*clustertest.Cluster
	t        *testing.T
	manager  *controller.Manager
	failures clustertest.Buffer
	passes   clustertest.Buffer // a line for each
	stop     func()
}

// of returns the number of passes over an object.
func (w *world) of(name string) int { return w.passes.Count("pass " + name + "\n") }

// inACluster sets controllers up with each set of gears, runs them, and plays.
func inACluster(t *testing.T, setUp func(w *world), play func(w *world)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		w := &world{Cluster: clustertest.New(t), t: t}
		w.manager = controller.NewManager(controller.Config{Client: w.Client(), Gears: set, Failures: &w.failures})
		setUp(w)
		ctx, stop := context.WithCancel(t.Context())
		ended := clustertest.Run(ctx, w.manager.Run)
		w.stop = func() {
			stop()
			<-ended
		}
		defer w.stop()
		play(w)
	})
}

func (w *world) namespaces() *controller.Collection[*api.Namespace] {
	return controller.Watch[*api.Namespace](w.manager, api.NamespacesResource, "")
}

func (w *world) counted() *controller.Collection[*api.ConfigMap] {
	return controller.Watch[*api.ConfigMap](w.manager, api.ConfigMapsResource, "app=counted")
}

const greetings = "/api/v1/namespaces/default/configmaps"

// text returns the greeting of the namespace default, "" for none.
func (w *world) text() string {
	w.t.Helper()
	body, err := w.Request("GET", greetings+"/greeting", "")
	if api.IsNotFound(err) {
		return ""
	}
	require.NoError(w.t, err)
	var found api.ConfigMap
	require.NoError(w.t, api.Unmarshal(body, &found))
	return found.Data["text"]
}

func (w *world) becomes(text string) {
	w.t.Helper()
	w.Within(10*time.Second, "the greeting is "+text, func() bool { return w.text() == text })
}

// greet is the program of examples/greeter.
func greet(w *world) {
	namespaces := controller.Watch[*api.Namespace](w.manager, api.NamespacesResource, "greet")
	made := controller.Watch[*api.ConfigMap](w.manager, api.ConfigMapsResource, "app=greeter")
	c := controller.New(w.manager, "greeter", namespaces,
		func(ctx context.Context, ns *api.Namespace) (after time.Duration, err error) {
			want := &api.ConfigMap{Data: map[string]string{"text": ns.Labels["greet"]}}
			want.Name, want.Namespace, want.Labels = "greeting", ns.Name, map[string]string{"app": "greeter"}
			switch have, found := made.Cached(ns.Name, want.Name); {
			case !found:
				_, err = made.Server(ns.Name).Create(ctx, want, api.UpdateOptions{})
			case have.Data["text"] != want.Data["text"]:
				want.ResourceVersion = have.ResourceVersion
				_, err = made.Server(ns.Name).Update(ctx, want, api.UpdateOptions{})
			}
			return 0, err
		}, controller.Options{})
	controller.Owns(c, made, func(m *api.ConfigMap) string { return m.Namespace })
}

func (w *world) label(value string) {
	w.Must("PATCH", "/api/v1/namespaces/default", `{"metadata":{"labels":{"greet":`+value+`}}}`)
}

func TestAControllerFollowsItsObjectsAndTheirs(t *testing.T) {
	inACluster(t, greet, func(w *world) {
		w.label(`"hello"`)
		w.becomes("hello")
		w.label(`"good-morning"`)
		w.becomes("good-morning")
		w.Must("PATCH", greetings+"/greeting", `{"data":{"text":"other"}}`)
		w.becomes("good-morning")
		w.Must("DELETE", greetings+"/greeting", "")
		w.becomes("good-morning")
		w.label("null") // the controller does not see the namespace any more
		time.Sleep(time.Second)
		w.Must("DELETE", greetings+"/greeting", "")
		time.Sleep(time.Minute)
		assert.Empty(w.t, w.text(), "the namespace is not selected")
	})
}

func TestAFailedPassIsRepeatedAndWrittenOnceAMinute(t *testing.T) {
	inACluster(t, greet, func(w *world) {
		heal := w.ControllerFault("forbid:verb=create,resource=configmaps")
		w.label(`"hello"`)
		time.Sleep(50 * time.Second)
		assert.Equal(w.t, 1, w.failures.Count("greeter default: "), "many passes have failed for one reason")
		time.Sleep(3 * time.Minute)
		assert.Greater(w.t, w.failures.Count("greeter default: "), 1, "the failure lasts")
		heal()
		w.Within(2*time.Minute, "the greeting is there", func() bool { return w.text() == "hello" })
	})
}

// A 404 of a type with a definition of its own says what to do.
func TestAnInformerThatCannotListOrWatchIsWritten(t *testing.T) {
	forbid := func(w *world, verb string) {
		w.Fault("forbid:verb=" + verb + ",resource=configmaps,user=" + clustertest.ControllerUser)
	}
	inACluster(t, func(w *world) {
		forbid(w, "list")
		forbid(w, "watch")
		greet(w)
		custom := api.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
		controller.Watch[*api.ConfigMap](w.manager, custom, "")
		controller.Watch[*api.ConfigMap](w.manager, api.GroupVersionResource{Version: "v1", Resource: "nothings"}, "")
	}, func(w *world) {
		w.label(`"hello"`)
		time.Sleep(30 * time.Second)
		assert.NotZero(w.t, w.failures.Count("watching configmaps: "), "a failure is visible without configuration")
		assert.Empty(w.t, w.text(), "no pass begins before the copies are complete")
		assert.Zero(w.t, w.failures.Count("watching namespaces"), "these can be listed")
		assert.NotEmpty(w.t, w.failures.Lines("watching things.example.com: ", "apply its CustomResourceDefinition"))
		assert.NotEmpty(w.t, w.failures.Lines("watching nothings: "))
		assert.Empty(w.t, w.failures.Lines("watching nothings: ", "apply its"))
	})
	inACluster(t, greet, func(w *world) {
		time.Sleep(time.Minute)
		assert.Zero(w.t, w.failures.Count("watching"), "it has worked so far")
		forbid(w, "watch")
		w.Fault("cut-watches")
		time.Sleep(time.Minute)
		assert.NotZero(w.t, w.failures.Count("watching configmaps: "), "the copy grows old")
	})
}

const one = `{"metadata":{"name":"one","labels":{"app":"counted"}},"data":{"a":"1"}}`

// An object that another one names is looked at when that changes, also if it changes hands. What
// is named and is not there any more leads to a pass over its key: it may have gone while no
// replica worked.
func TestOwnedObjectsQueueTheirOwners(t *testing.T) {
	pod := func(owner string) string {
		return `{"metadata":{"name":"p","annotations":{"of":"` + owner + `"}},` +
			`"spec":{"containers":[{"name":"c","image":"i"}]}}`
	}
	const pods = "/api/v1/namespaces/default/pods"
	inACluster(t, func(w *world) {
		w.Must("POST", pods, pod("default/was-deleted"))
		c := controller.New(w.manager, "counter", w.counted(),
			func(_ context.Context, m *api.ConfigMap) (time.Duration, error) {
				_, err := fmt.Fprintf(&w.passes, "pass %s\n", m.Name)
				return 0, err
			}, controller.Options{Gone: func(_ context.Context, key string) error {
				fmt.Fprintf(&w.passes, "gone %s\n", key)
				return errors.New("once more")
			}})
		controller.Owns(c, controller.Watch[*api.Pod](w.manager, api.PodsResource, ""),
			func(p *api.Pod) string { return p.Annotations["of"] })
	}, func(w *world) {
		gone := func(key string) func() bool { return func() bool { return w.passes.Count("gone "+key+"\n") > 1 } }
		w.Within(10*time.Second, "a pass over the key, and another one after it failed", gone("default/was-deleted"))
		w.Must("POST", greetings, one)
		w.Must("POST", greetings, strings.ReplaceAll(one, "one", "two"))
		w.Must("POST", greetings, strings.ReplaceAll(strings.ReplaceAll(one, "counted", "other"), "one", "other"))
		w.Within(time.Second, "both are looked at", func() bool { return w.of("one") == 1 && w.of("two") == 1 })
		w.Must("PATCH", pods+"/p", pod("default/one"))
		w.Within(time.Second, "its owner is looked at", func() bool { return w.of("one") > 1 })
		time.Sleep(time.Minute)
		former, next := w.of("one"), w.of("two")
		w.Must("PATCH", pods+"/p", pod("default/two"))
		w.Within(time.Second, "the new owner is looked at", func() bool { return w.of("two") > next })
		assert.Greater(w.t, w.of("one"), former, "the former owner has lost something")
		former = w.of("one")
		w.Must("DELETE", greetings+"/one", "")
		w.Within(time.Second, "a deletion is looked at", gone("default/one"))
		assert.Equal(w.t, former, w.of("one"), "a pass needs an object")
		assert.Zero(w.t, w.of("other"), "the selector leaves it out")
	})
}

// A running pass is finished, with the local copy still there; what is queued is, too.
func TestStopFinishesPasses(t *testing.T) {
	began, ended := 0, 0
	var handle func() error
	var next time.Duration
	inACluster(t, func(w *world) {
		began, ended, next = 0, 0, 0
		maps := w.counted()
		again := w.counted()
		assert.Same(w.t, maps.Informer(), again.Informer(), "one list and one watch")
		other := controller.Watch[*api.ConfigMap](w.manager, api.ConfigMapsResource, "app=other")
		assert.NotSame(w.t, maps.Informer(), other.Informer(), "another selector has a list of its own")
		handle = func() error {
			_, err := maps.Informer().AddEventHandler(informer.ResourceEventHandlerFuncs[*api.ConfigMap]{})
			return err
		}
		controller.New(w.manager, "slow", maps, func(ctx context.Context, m *api.ConfigMap) (time.Duration, error) {
			began++
			time.Sleep(5 * time.Second)
			_, found := maps.Cached("default", m.Name)
			assert.True(w.t, found && ctx.Err() == nil)
			assert.NoError(w.t, handle(), "the informers end after the passes")
			assert.Len(w.t, maps.CachedList(func(m *api.ConfigMap) bool { return m.Name == "one" }), 1)
			assert.Len(w.t, maps.CachedList(nil), 2)
			ended++
			return time.Hour, nil
		}, controller.Options{Workers: 1, Trace: &controller.PoolTrace{
			PassDone: func(_ string, _ time.Duration, _ int, after time.Duration, _ error) { next = after },
		}})
	}, func(w *world) {
		w.Must("POST", greetings, one)
		w.Must("POST", greetings, strings.ReplaceAll(one, "one", "two"))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(w.t, 1, began, "one worker works on one object at a time")
		assert.Error(w.t, w.manager.Run(w.t.Context()), "a manager runs once")
		w.stop()
		assert.Equal(w.t, time.Hour, next, "the trace of the options hears when the object is looked at again")
		assert.Equal(w.t, 2, began, "also what was queued")
		assert.Equal(w.t, 2, ended)
		assert.ErrorIs(w.t, handle(), informer.ErrStopped, "they have ended when Run returns")
		assert.Error(w.t, w.manager.Run(w.t.Context()), "nor does it run again")
	})
}

// replica is a manager that takes part in an election.
type replica struct {
	worked, said clustertest.Buffer
	stop         context.CancelFunc
	ended        <-chan error
}

// newReplica runs a controller of namespaces that writes their names, and stands by or leads.
func newReplica(t *testing.T, c *clustertest.Cluster, identity string) *replica {
	t.Helper()
	r := &replica{}
	m := controller.NewManager(controller.Config{
		Client: c.Client(), Failures: &r.said,
		Election: controller.Election{Namespace: "kube-system", Name: "greeter", Identity: identity},
	})
	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
	controller.New(m, "names", namespaces, func(_ context.Context, ns *api.Namespace) (time.Duration, error) {
		_, err := r.worked.Write([]byte(ns.Name + "\n"))
		return 0, err
	}, controller.Options{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	r.stop, r.ended = stop, ended
	return r
}

// Who leads, and why nobody does, is visible without a trace.
func TestOneOfSeveralReplicasWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t)
		heal := c.ControllerFault("forbid:verb=create,resource=leases")
		first := newReplica(t, c, "first")
		time.Sleep(5 * time.Second)
		assert.Equal(t, 1, first.said.Count("leader election, kube-system/greeter: "), "the refusal, once")
		heal()
		time.Sleep(time.Minute)
		second := newReplica(t, c, "")
		time.Sleep(time.Minute)
		assert.Equal(t, 1, first.worked.Count("default"), "the leader works")
		assert.Equal(t, 1, first.said.Count("this replica leads, as first"))
		assert.Zero(t, second.worked.Count("default"), "the other stands by")
		assert.Equal(t, 1, second.said.Count("standing by, first leads"))

		first.stop()
		require.NoError(t, <-first.ended)
		time.Sleep(time.Second)
		assert.Equal(t, 1, second.worked.Count("default"), "it takes over as soon as the Lease is released")
		const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/greeter"
		assert.NotEmpty(t, clustertest.Get[api.Lease](c, path).Spec.HolderIdentity, "it has made an identity")

		c.Must("PATCH", path, `{"spec":{"holderIdentity":"somebody"}}`)
		lost, _ := errors.AsType[*leaderelection.LostError](<-second.ended)
		require.NotNil(t, lost, "a replica that has lost the Lease ends")
		assert.Equal(t, "somebody", lost.Holder)
	})
}

func TestAnElectionIsAFlag(t *testing.T) {
	var election controller.Election
	require.NoError(t, election.Set("kube-system/greeter"))
	assert.Equal(t, controller.Election{Namespace: "kube-system", Name: "greeter"}, election)
	assert.Equal(t, "kube-system/greeter", election.String())
	for _, wrong := range []string{"", "greeter", "/greeter", "kube-system/", "a/b/c"} {
		assert.Error(t, election.Set(wrong), wrong)
	}
}

func TestThePlaceOfAPanicIsWritten(t *testing.T) {
	setUp := func(w *world) {
		namespaces := w.namespaces()
		controller.New(w.manager, "broken", namespaces, func(context.Context, *api.Namespace) (time.Duration, error) {
			panic("out of order")
		}, controller.Options{})
	}
	inACluster(t, setUp, func(w *world) {
		time.Sleep(time.Second)
		assert.Equal(w.t, 1, w.failures.Count("broken default: panic: out of order"), "once a minute")
		assert.Positive(w.t, w.failures.Count("controller_test.go"), "the file is named")
	})
}

// Each attempt of a watch has another address.
func TestAFailureWithAnotherQueryIsTheSame(t *testing.T) {
	var said clustertest.Buffer
	report := controller.NewFailures(&said)
	report("watching pods", errors.New("GET https://server/pods?timeoutSeconds=466&watch=true: connection refused"))
	report("watching pods", errors.New("GET https://server/pods?timeoutSeconds=512&watch=true: connection refused"))
	assert.Equal(t, 1, said.Count("watching pods: "), "the same failure")
	assert.Equal(t, 1, said.Count("timeoutSeconds=466"), "the line is whole")
	report("watching pods", errors.New("GET https://server/pods?timeoutSeconds=512&watch=true: no such host"))
	assert.Equal(t, 2, said.Count("watching pods: "), "another failure")
}

func TestMistakesInTheSetUpAreSaid(t *testing.T) {
	assert.PanicsWithValue(t, "controller: Config has no Client", func() { controller.NewManager(controller.Config{}) })
	m := controller.NewManager(controller.Config{Client: &restclient.Client{}})
	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
	assert.PanicsWithValue(t, "controller: x has no Reconcile", func() {
		controller.New(m, "x", namespaces, nil, controller.Options{})
	})
}

// writeKubeconfig writes a kubeconfig with one context, and returns its path.
func writeKubeconfig(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte("{clusters: [{name: c, cluster: {server: 'http://c'}}], "+
		"contexts: [{name: c, context: {cluster: c}}], current-context: c}"), 0o600))
	return path
}

func TestWhatAProgramRefuses(t *testing.T) {
	arguments, flags := os.Args, flag.CommandLine
	defer func() { os.Args, flag.CommandLine = arguments, flags }()
	t.Setenv("KUBECONFIG", writeKubeconfig(t))
	for line, want := range map[string]string{
		"on":                      `"on" is neither a flag nor the argument rbac`,
		"rbac -gears=fast on":     `"on" is neither a flag nor the argument rbac`,
		"rbac -service-account=a": `-service-account must be a namespace and a name`,
		"-kubeconfig=/not/there":  `/not/there: no such file or directory`,
		"rbac":                    `no collection`,
		"-context=nope":           `"nope"`,
	} {
		os.Args = append([]string{"greeter"}, strings.Fields(line)...)
		flag.CommandLine = flag.NewFlagSet("greeter", flag.ContinueOnError)
		err := controller.RunProgram("greeter", func(*controller.Manager) error {
			if line == "rbac" {
				return errors.New("no collection")
			}
			return nil
		})
		assert.ErrorContains(t, err, want, line)
	}
}

func TestAControllerWithAPoolOfItsOwn(t *testing.T) {
	inACluster(t, func(w *world) {
		namespaces := w.namespaces()
		w.manager.Add(func() (func(stop, alive context.Context), error) {
			config := w.manager.PoolConfig("own")
			newQueue := config.NewQueue
			config.NewQueue = func(limiter queue.RateLimiter[string],
				config queue.Config[string]) queue.ObservableInterface[string] {
				chosen := w.manager.Config().Gears.NewQueue(limiter, config)
				chosen.ShutDown()
				made := newQueue(limiter, config)
				assert.IsType(w.t, chosen, made, "the gears of the manager choose it")
				return made
			}
			config.Keys = namespaces.Informer().GetIndexer().ListKeys
			config.Synced = []informer.InformerSynced{namespaces.Informer().HasSynced}
			config.Reconcile = func(_ context.Context, key string) (time.Duration, error) {
				fmt.Fprintf(&w.passes, "pass %s\n", key)
				return 0, errors.New("broken")
			}
			return controller.NewPool(config).Run, nil
		})
	}, func(w *world) {
		time.Sleep(10 * time.Second)
		assert.Greater(w.t, w.of("default"), 1)
		assert.Equal(w.t, 1, w.failures.Count("own default: broken"), "failures are visible without a trace")
	})
	synctest.Test(t, func(t *testing.T) {
		m := controller.NewManager(controller.Config{Client: clustertest.New(t).Client()})
		m.Add(func() (func(stop, alive context.Context), error) { return nil, errors.New("no engine") })
		assert.EqualError(t, m.Run(t.Context()), "no engine")

		m = controller.NewManager(controller.Config{Client: clustertest.New(t).Client(), DrainTimeout: 3 * time.Second})
		config := m.PoolConfig("slow")
		assert.Equal(t, 3*time.Second, config.DrainTimeout)
		config.Keys = func() []string { return []string{"default/one"} }
		config.Reconcile = hanging
		m.Add(func() (func(stop, alive context.Context), error) { return controller.NewPool(config).Run, nil })
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		err := m.Run(ctx)
		assert.ErrorIs(t, err, controller.ErrCutShort, "a program whose work was cut short does not end with success")
		assert.ErrorContains(t, err, "slow default/one")
		unnamed := controller.Election{Name: "x"}
		m = controller.NewManager(controller.Config{Client: m.Config().Client, Election: unnamed})
		assert.ErrorContains(t, m.Run(t.Context()), "leader election: ", "a Lease without a namespace")
	})
}

// The test runs itself as a program whose controller does not stop.
func TestASecondSignalEndsTheProgram(t *testing.T) {
	if os.Getenv("CONTROLLER_PROGRAM") != "" {
		os.Args, flag.CommandLine = []string{"stubborn"}, flag.NewFlagSet("stubborn", flag.ExitOnError)
		controller.Main(func(m *controller.Manager) error {
			m.Add(func() (func(stop, alive context.Context), error) {
				return func(stop, _ context.Context) {
					fmt.Println("works")
					<-stop.Done()
					fmt.Println("stops")
					select {}
				}, nil
			})
			return nil
		})
	}
	for _, first := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		program := exec.CommandContext(limited, os.Args[0], "-test.run=^"+t.Name()+"$")
		program.Env = append(os.Environ(), "CONTROLLER_PROGRAM=1", "KUBECONFIG="+writeKubeconfig(t))
		output, err := program.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, program.Start())
		lines := bufio.NewScanner(output)
		require.True(t, lines.Scan() && lines.Text() == "works", lines.Text())
		require.NoError(t, program.Process.Signal(first))
		require.True(t, lines.Scan() && lines.Text() == "stops", "%v: the program finishes its work", first)
		ended := make(chan error, 1)
		go func() { ended <- program.Wait() }()
		for over := false; !over; { // the first signal may still be on its way to those who watch for it
			select {
			case err := <-ended:
				assert.ErrorContains(t, err, "signal: interrupt", "another signal ends the program at once")
				over = true
			case <-time.After(10 * time.Millisecond):
				_ = program.Process.Signal(os.Interrupt)
			}
		}
	}
}

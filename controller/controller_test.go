package controller_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
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

func TestAnInformerThatCannotListOrWatchIsWritten(t *testing.T) {
	forbid := func(w *world, verb string) {
		w.Fault("forbid:verb=" + verb + ",resource=configmaps,user=" + clustertest.ControllerUser)
	}
	inACluster(t, func(w *world) {
		forbid(w, "list")
		forbid(w, "watch")
		greet(w)
	}, func(w *world) {
		w.label(`"hello"`)
		time.Sleep(30 * time.Second)
		assert.NotZero(w.t, w.failures.Count("watching configmaps: "), "a failure is visible without configuration")
		assert.Empty(w.t, w.text(), "no pass begins before the copies are complete")
		assert.Zero(w.t, w.failures.Count("watching namespaces"), "these can be listed")
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

// told passes on what is written.
type told chan string

func (c told) Write(text []byte) (int, error) {
	c <- string(text)
	return len(text), nil
}

// A 404 of a type with a definition of its own says what to do; one of a built-in type means that
// the server is no API server.
func TestATypeThatTheServerLacks(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	client, err := restclient.New(restclient.Config{Host: server.URL})
	require.NoError(t, err)
	defer client.Close()
	for hint, resource := range map[bool]api.GroupVersionResource{
		true:  {Group: "example.com", Version: "v1", Resource: "things"},
		false: api.ConfigMapsResource,
	} {
		failures := make(told, 100)
		m := controller.NewManager(controller.Config{Client: client, Failures: failures})
		nothing := func(context.Context, *api.ConfigMap) (time.Duration, error) { return 0, nil }
		controller.New(m, "c", controller.Watch[*api.ConfigMap](m, resource, ""), nothing, controller.Options{})
		ctx, stop := context.WithCancel(t.Context())
		ended := clustertest.Run(ctx, m.Run)
		said := <-failures
		stop()
		<-ended
		assert.Equal(t, hint, strings.Contains(said, "apply its CustomResourceDefinition"), said)
	}
}

// count runs a controller of the ConfigMaps of the label app=counted.
func count(
	w *world, result func() (time.Duration, error), options controller.Options,
) *controller.Controller[*api.ConfigMap] {
	pass := func(_ context.Context, m *api.ConfigMap) (time.Duration, error) {
		fmt.Fprintf(&w.passes, "pass %s\n", m.Name)
		return result()
	}
	return controller.New(w.manager, "counter", w.counted(), pass, options)
}

// A pass that takes too long is cancelled, and so is one that the drain does not wait for.
func TestTimeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Cluster: clustertest.New(t), t: t}
		w.manager = controller.NewManager(controller.Config{Client: w.Client(), Failures: &w.failures,
			DrainTimeout: 3 * time.Second})
		maps := w.counted()
		controller.New(w.manager, "slow", maps, func(ctx context.Context, _ *api.ConfigMap) (time.Duration, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}, controller.Options{PassTimeout: 10 * time.Second})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.manager.Run(ctx) }()
		w.Must("POST", greetings, one)
		time.Sleep(10500 * time.Millisecond)
		assert.Equal(t, 1, w.failures.Count(controller.ErrPassTimeout.Error()), "the limit is that of the options")
		began := time.Now()
		stop()
		err := <-ended
		assert.InDelta(t, 3, time.Since(began).Seconds(), 0.5, "the limit is that of the configuration")
		assert.ErrorIs(t, err, controller.ErrCutShort, "a program whose work was cut short does not end with success")
		assert.ErrorContains(t, err, "slow default/one")
	})
}

const one = `{"metadata":{"name":"one","labels":{"app":"counted"}},"data":{"a":"1"}}`

func TestOnlyRelevantChangesQueue(t *testing.T) {
	inACluster(t, func(w *world) {
		c := count(w, func() (time.Duration, error) { return 0, nil }, controller.Options{
			Gone: func(_ context.Context, key string) error {
				_, err := fmt.Fprintf(&w.passes, "gone %s\n", key)
				return err
			},
		})
		c.When(func(old, object *api.ConfigMap) bool { return old.Data["a"] != object.Data["a"] })
	}, func(w *world) {
		w.Must("POST", greetings, one)
		w.Must("POST", greetings, strings.ReplaceAll(strings.ReplaceAll(one, "counted", "other"), "one", "other"))
		w.Within(time.Second, "the new object is looked at", func() bool { return w.of("one") == 1 })
		w.Must("PATCH", greetings+"/one", `{"data":{"b":"2"}}`)
		time.Sleep(time.Minute)
		assert.Equal(w.t, 1, w.of("one"), "b is not relevant")
		assert.Zero(w.t, w.of("other"), "the selector leaves it out")
		w.Must("PATCH", greetings+"/one", `{"data":{"a":"2"}}`)
		w.Within(time.Second, "a is relevant", func() bool { return w.of("one") == 2 })
		w.Must("DELETE", greetings+"/one", "")
		w.Within(time.Second, "the end is always relevant",
			func() bool { return w.passes.Count("gone default/one") == 1 })
		assert.Equal(w.t, 2, w.of("one"), "a pass needs an object")
	})
}

// Objects that an owner has by its ownerReferences queue it, also if they change hands.
func TestOwnersByReference(t *testing.T) {
	inACluster(t, func(w *world) {
		c := count(w, func() (time.Duration, error) { return 0, nil }, controller.Options{})
		pods := controller.Watch[*api.Pod](w.manager, api.PodsResource, "")
		controller.Owns(c, pods, controller.OwnerOfKind[*api.Pod]("ConfigMap"))
	}, func(w *world) {
		w.Must("POST", greetings, one)
		w.Must("POST", greetings, strings.ReplaceAll(one, "one", "two"))
		w.Within(time.Second, "both are looked at",
			func() bool { return w.of("one") == 1 && w.of("two") == 1 })
		owned := func(owner, controls string) string {
			uid := clustertest.Get[api.ConfigMap](w.Cluster, greetings+"/"+owner).UID
			return `{"metadata":{"name":"p","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"` +
				owner + `","uid":"` + uid + `","controller":` + controls + `}]},` +
				`"spec":{"containers":[{"name":"c","image":"i"}]}}`
		}
		w.Must("POST", "/api/v1/namespaces/default/pods", owned("one", "true"))
		w.Within(time.Second, "its owner is looked at", func() bool { return w.of("one") > 1 })
		time.Sleep(time.Minute)
		former, before := w.of("one"), w.of("two")
		w.Must("PATCH", "/api/v1/namespaces/default/pods/p", owned("two", "true"))
		w.Within(time.Second, "the new owner is looked at", func() bool { return w.of("two") > before })
		assert.Greater(w.t, w.of("one"), former, "the former owner has lost something")
		w.Must("PATCH", "/api/v1/namespaces/default/pods/p", owned("two", "false"))
		time.Sleep(time.Minute)
		before = w.of("two")
		w.Must("PATCH", "/api/v1/namespaces/default/pods/p", `{"metadata":{"labels":{"a":"b"}}}`)
		time.Sleep(time.Minute)
		assert.Equal(w.t, before, w.of("two"), "an owner that is not the controller is not told")
		w.Must("PATCH", "/api/v1/namespaces/default/pods/p",
			strings.Replace(owned("two", "true"), "ConfigMap", "Other", 1))
		time.Sleep(time.Minute)
		assert.Equal(w.t, before, w.of("two"), "an owner of another kind is not told")
	})
}

// A running pass is finished, with the local copy still there; what is queued is, too.
func TestStopFinishesPasses(t *testing.T) {
	began, ended := 0, 0
	var handle func() error
	inACluster(t, func(w *world) {
		began, ended = 0, 0
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
			return 0, nil
		}, controller.Options{Workers: 1})
	}, func(w *world) {
		w.Must("POST", greetings, one)
		w.Must("POST", greetings, strings.ReplaceAll(one, "one", "two"))
		time.Sleep(time.Second)
		assert.Error(w.t, w.manager.Run(w.t.Context()), "a manager runs once")
		w.stop()
		assert.Equal(w.t, 2, began, "also what was queued")
		assert.Equal(w.t, 2, ended)
		assert.ErrorIs(w.t, handle(), informer.ErrStopped, "they have ended when Run returns")
		assert.Error(w.t, w.manager.Run(w.t.Context()), "nor does it run again")
	})
}

// replica is a manager that takes part in an election.
type replica struct {
	worked clustertest.Buffer
	stop   context.CancelFunc
	ended  <-chan error
}

// newReplica runs a controller of namespaces that writes their names, and stands by or leads.
func newReplica(t *testing.T, c *clustertest.Cluster, identity string) *replica {
	t.Helper()
	r := &replica{}
	m := controller.NewManager(controller.Config{
		Client:   c.Client(),
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

func TestOneOfSeveralReplicasWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t)
		first := newReplica(t, c, "first")
		time.Sleep(time.Minute)
		second := newReplica(t, c, "second")
		time.Sleep(time.Minute)
		assert.Equal(t, 1, first.worked.Count("default"), "the leader works")
		assert.Zero(t, second.worked.Count("default"), "the other stands by")

		first.stop()
		require.NoError(t, <-first.ended)
		time.Sleep(time.Second)
		assert.Equal(t, 1, second.worked.Count("default"), "it takes over as soon as the Lease is released")

		c.Must("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/greeter",
			`{"spec":{"holderIdentity":"somebody"}}`)
		lost, _ := errors.AsType[*leaderelection.LostError](<-second.ended)
		require.NotNil(t, lost, "a replica that has lost the Lease ends")
		assert.Equal(t, "somebody", lost.Holder)
	})
}

func TestAnElectionHasItsTimingAndItsTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t)
		var acquired atomic.Int64
		m := controller.NewManager(controller.Config{Client: c.Client(), Election: controller.Election{
			Namespace: "kube-system", Name: "greeter",
			Timing: leaderelection.Timing{LeaseDuration: time.Hour, RenewDeadline: 30 * time.Minute},
			Trace:  &leaderelection.Trace{Acquired: func(leaderelection.Term) { acquired.Add(1) }},
		}})
		namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
		controller.New(m, "idle", namespaces, func(context.Context, *api.Namespace) (time.Duration, error) {
			return 0, nil
		}, controller.Options{})
		ctx, stop := context.WithCancel(t.Context())
		ended := clustertest.Run(ctx, m.Run)
		time.Sleep(time.Minute)
		lease := clustertest.Get[api.Lease](c, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/greeter")
		require.NotNil(t, lease.Spec.LeaseDurationSeconds)
		assert.EqualValues(t, 3600, *lease.Spec.LeaseDurationSeconds, "the timing is that of the configuration")
		assert.NotEmpty(t, lease.Spec.HolderIdentity, "a replica that is given no identity makes one")
		assert.EqualValues(t, 1, acquired.Load(), "the election is traced")
		stop()
		<-ended
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

// An object may go while no replica works. What still names it leads to a pass over its key.
func TestGoneIsCalledForWhatIsStillNamed(t *testing.T) {
	var gone clustertest.Buffer
	setUp := func(w *world) {
		namespaces := w.namespaces()
		made := controller.Watch[*api.ConfigMap](w.manager, api.ConfigMapsResource, "")
		c := controller.New(w.manager, "cleaner", namespaces,
			func(context.Context, *api.Namespace) (time.Duration, error) { return 0, nil },
			controller.Options{Gone: func(_ context.Context, key string) error {
				_, err := gone.Write([]byte(key + "\n"))
				return err
			}})
		controller.Owns(c, made, func(m *api.ConfigMap) string { return m.Annotations["of"] })
		w.Must("POST", greetings, `{"metadata":{"name":"left","annotations":{"of":"was-deleted"}}}`)
	}
	inACluster(t, setUp, func(w *world) {
		w.Within(10*time.Second, "a pass over the key", func() bool { return gone.Count("was-deleted") > 0 })
	})
}

func TestAnOwnerReferenceNamesTheController(t *testing.T) {
	owner := &api.ObjectMeta{Name: "web", Namespace: "shop", UID: "7"}
	made := &api.ConfigMap{ObjectMeta: api.ObjectMeta{
		Name: "x", Namespace: "shop",
		OwnerReferences: []api.OwnerReference{controller.ControlledBy("apps/v1", "Deployment", owner)},
	}}
	assert.Equal(t, "shop/web", controller.OwnerOfKind[*api.ConfigMap]("Deployment")(made))
	assert.Equal(t, "7", made.OwnerReferences[0].UID)
	assert.Equal(t, "apps/v1", made.OwnerReferences[0].APIVersion)
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

// What the election says is visible without a trace: who leads, and why nobody does.
func TestAnElectionIsVisible(t *testing.T) {
	elect := func(t *testing.T, c *clustertest.Cluster, lasting time.Duration) (said *clustertest.Buffer) {
		said = &clustertest.Buffer{}
		m := controller.NewManager(controller.Config{
			Client: c.Client(), Failures: said,
			Election: controller.Election{Namespace: "kube-system", Name: "greeter", Identity: "first"},
		})
		ctx, stop := context.WithTimeout(t.Context(), lasting)
		defer stop()
		require.NoError(t, m.Run(ctx))
		return said
	}
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.New(t)
		defer c.ControllerFault("forbid:verb=create,resource=leases")()
		said := elect(t, c, 5*time.Second)
		assert.Equal(t, 1, said.Count("leader election, kube-system/greeter: "), "the refusal, once")
	})
	synctest.Test(t, func(t *testing.T) {
		said := elect(t, clustertest.New(t), time.Minute)
		assert.Equal(t, 1, said.Count("this replica leads, as first"))
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
	synctest.Test(t, func(t *testing.T) {
		m := controller.NewManager(controller.Config{Client: clustertest.New(t).Client()})
		namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "")
		assert.PanicsWithValue(t, "controller: x has no Reconcile", func() {
			controller.New(m, "x", namespaces, nil, controller.Options{})
		})
	})
}

func TestWhatAProgramRefuses(t *testing.T) {
	arguments, flags := os.Args, flag.CommandLine
	defer func() { os.Args, flag.CommandLine = arguments, flags }()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "config"))
	one := "{clusters: [{name: c, cluster: {server: 'http://c'}}], contexts: [{name: c, context: {cluster: c}}]}"
	require.NoError(t, os.WriteFile(os.Getenv("KUBECONFIG"), []byte(one), 0o600))
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

// The queue of a pool is the one that the manager's gears choose.
func TestAPoolHasTheQueueOfTheGears(t *testing.T) {
	client, err := restclient.New(restclient.Config{Host: "http://no.server.invalid"})
	require.NoError(t, err)
	defer client.Close()
	for form, want := range map[string]string{"fast": "*fast.", "textbook": "*queue."} {
		set, err := gears.Parse(form)
		require.NoError(t, err)
		limiter := queue.NewItemExponentialFailureRateLimiter[string](1, 1)
		pool := controller.NewManager(controller.Config{Client: client, Gears: set}).PoolConfig("c")
		made := pool.NewQueue(limiter, queue.Config[string]{})
		assert.Contains(t, fmt.Sprintf("%T", made), want, "the gears are %s", form)
		made.ShutDown()
	}
}

func TestAControllerWithAPoolOfItsOwn(t *testing.T) {
	inACluster(t, func(w *world) {
		namespaces := w.namespaces()
		w.manager.Add(func() (func(stop, alive context.Context), error) {
			config := w.manager.PoolConfig("own")
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
	config := filepath.Join(t.TempDir(), "config")
	one := "{clusters: [{name: c, cluster: {server: 'http://c'}}], " +
		"contexts: [{name: c, context: {cluster: c}}], current-context: c}"
	require.NoError(t, os.WriteFile(config, []byte(one), 0o600))
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := exec.CommandContext(limited, os.Args[0], "-test.run=^"+t.Name()+"$")
	program.Env = append(os.Environ(), "CONTROLLER_PROGRAM=1", "KUBECONFIG="+config)
	output, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan() && lines.Text() == "works", lines.Text())
	require.NoError(t, program.Process.Signal(os.Interrupt))
	require.True(t, lines.Scan() && lines.Text() == "stops", lines.Text())
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	for { // the first signal may still be on its way to those who watch for it
		select {
		case err := <-ended:
			assert.ErrorContains(t, err, "signal: interrupt", "another signal ends the program at once")
			return
		case <-time.After(10 * time.Millisecond):
			_ = program.Process.Signal(os.Interrupt)
		}
	}
}

package controllers_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/cmd/orrery/controllers"
	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/examples/apps"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
)

// world is the API server in memory, with all controllers in one process beside it.
type world struct {
	*clustertest.Cluster
	t       *testing.T
	manager *manager.Manager

	watches  clustertest.Watches
	log      clustertest.Buffer
	starting atomic.Bool // the server is not ready
}

// front is in front of the server.
func (w *world) front(server http.Handler) http.Handler {
	counted := w.watches.Counted(server)
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		// In virtual time: the end of a watch that the client has closed has been counted then.
		time.Sleep(time.Millisecond)
		if r.URL.Path == "/readyz" && w.starting.Load() {
			out.WriteHeader(http.StatusInternalServerError)
			return
		}
		counted.ServeHTTP(out, r)
	})
}

func play(t *testing.T, set string, act func(w *world)) {
	t.Helper()
	chosenGears, err := gears.Parse(set)
	require.NoError(t, err)
	all := descriptors()
	for i, d := range all {
		all[i].New = func(c manager.ControllerContext) (manager.Controller, error) {
			made, err := d.New(c)
			assert.Implements(t, (*interface{ Healthy() error })(nil), made, d.Name)
			return made, err
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t}
		w.Cluster = clustertest.Start(t, apiserver.Config{NoCollector: true}, w.front)
		w.manager = manager.NewManager(manager.Shared{
			Client: w.Client(func(c *restclient.Config) { c.UserAgent = "orrery/test" }), QPS: -1,
			Gears: chosenGears, Events: true, Metrics: metrics.New("test"),
			Logger: logs.New(logs.Config{Writer: &w.log, Verbosity: 1}),
		}, all)
		stop, ended := w.Start(w.manager.Run)
		time.Sleep(time.Second)
		synctest.Wait() // the controllers are set up
		act(w)
		stop()
		<-ended
	})
}

// descriptors are those of all controllers; that of namespaces leaves the namespace other alone.
func descriptors() []manager.Descriptor {
	selection, _ := nsctl.ParseSelection([]string{"*", "-other"})
	return controllers.Descriptors(controllers.Options{Selection: selection})
}

// await waits, in virtual time, until check is true.
func (w *world) await(what string, check func() bool) {
	w.t.Helper()
	w.Within(20*time.Minute, what, func() bool {
		synctest.Wait()
		return check()
	})
}

// pods returns the number of pods in a namespace.
func (w *world) pods(namespace string) int {
	return len(clustertest.Get[api.List[*apps.Pod]](w.Cluster, "/api/v1/namespaces/"+namespace+"/pods").Items)
}

// events returns component, reason and the beginning of the message of Events, without the names
// that are made up.
func (w *world) events(namespace string) (all []string) {
	w.t.Helper()
	made := regexp.MustCompile(` (web-\S+)|(pod:|creating:) .*`)
	for _, e := range clustertest.Get[api.List[*api.Event]](w.Cluster, "/api/v1/namespaces/"+namespace+"/events").Items {
		all = append(all, e.Source.Component+": "+e.Reason+" "+made.ReplaceAllString(e.Message, "$2"))
	}
	return all
}

// All controllers in one process: each does its work, the stores of what several of them read are
// shared, and the deletion of the namespace takes everything along.
func TestAllControllersInOneProcess(t *testing.T) {
	for _, set := range []string{gears.Fast, gears.Textbook} {
		t.Run(set, func(t *testing.T) {
			play(t, set, func(w *world) {
				w.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"blue"}}`)
				const web = "/apis/apps/v1/namespaces/blue/deployments"
				w.Must("POST", web, `{"metadata":{"name":"web"},"spec":{"replicas":3,
					"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
					"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
				w.await("the deployment is complete", func() bool {
					return clustertest.Get[apps.Deployment](w.Cluster, web+"/web").Status.AvailableReplicas == 3
				})
				assert.Equal(t, 3, w.pods("blue"))

				w.Fault("forbid:verb=create,resource=pods,for=20s")
				scale := func(replicas int) {
					w.Must("PATCH", web+"/web/scale", fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
				}
				scale(4)
				w.await("there are more", func() bool { return w.pods("blue") == 4 })
				scale(1)
				w.await("there are less", func() bool { return w.pods("blue") == 1 })
				time.Sleep(time.Second)
				assert.Subset(t, w.events("blue"), []string{
					"deployment-controller: ScalingReplicaSet Scaled up replica set from 0 to 3",
					"deployment-controller: ScalingReplicaSet Scaled up replica set from 3 to 4",
					"deployment-controller: ScalingReplicaSet Scaled down replica set from 4 to 1",
					"replicaset-controller: SuccessfulCreate Created pod:",
					"replicaset-controller: FailedCreate Error creating:",
					"replicaset-controller: SuccessfulDelete Deleted pod:",
				})

				w.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
				w.Must("DELETE", "/api/v1/namespaces/other", "")
				w.starting.Store(true)
				w.Must("DELETE", "/api/v1/namespaces/blue", "")
				time.Sleep(time.Minute)
				w.Must("GET", "/api/v1/namespaces/blue", "") // a server that starts does not show all types yet
				w.starting.Store(false)
				w.await("the namespace has gone", func() bool {
					_, err := w.Request("GET", "/api/v1/namespaces/blue", "")
					return api.IsNotFound(err)
				})
				w.Must("GET", "/api/v1/namespaces/other", "")
				for _, status := range w.manager.Snapshot() {
					assert.Equal(t, manager.Running, status.State, status.Name)
					assert.Empty(t, status.Why, status.Name)
				}

				mostWatches := w.watches.Most()
				assert.Subset(t, slices.Collect(maps.Keys(mostWatches)), []string{
					"/api/v1/namespaces", "/api/v1/pods", "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets",
				}, "what is watched")
				for path, most := range mostWatches { // one of objects, and one of the garbage collector's, of heads
					assert.LessOrEqual(t, most, 2, "watches of %s at a time", path)
				}
			})
		})
	}
}

// A right that is missing is one line a minute, however many objects wait for it.
func TestTheCollectorMayNotDelete(t *testing.T) {
	play(t, gears.Fast, func(w *world) {
		w.Fault("forbid:verb=delete,resource=configmaps")
		for i := range 20 {
			w.Must("POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"child%d",
				"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"never-was"}]}}`, i))
		}
		time.Sleep(5*time.Minute - 10*time.Second)
		about := w.log.Lines("controller=garbage-collector-controller", "WARN ")
		assert.Len(t, about, 5)
		for _, line := range about {
			assert.Contains(t, line, "objects cannot be collected, trying again in a minute")
			assert.Contains(t, line, "resource=configmaps ")
		}
	})
}

// Names are sorted, with the needs and rights of each controller.
func TestDescriptors(t *testing.T) {
	all := descriptors()
	names := map[string]bool{} // log lines and metrics tell controllers apart by them
	byName := func(a, b manager.Descriptor) int { return cmp.Compare(a.Name, b.Name) }
	assert.True(t, slices.IsSortedFunc(all, byName))
	for _, d := range all {
		assert.False(t, names[d.Name] || names[d.Alias] || d.Name == d.Alias, d.Name)
		names[d.Name], names[d.Alias] = true, true
		assert.NotEmpty(t, d.Alias, d.Name)
		assert.NotEmpty(t, d.About, d.Name)
		assert.NotEmpty(t, d.Needs, d.Name)
		assert.Equal(t, d.Name != controllers.NamespaceController, d.OnDemand, d.Name)
		watched := map[string]bool{}
		for _, right := range d.Rights(false) {
			assert.True(t, strings.HasSuffix(right.Reason, "."), "%s: %s", d.Name, right.Reason)
			for _, resource := range right.Rule.Resources {
				watched[resource] = watched[resource] || slices.Contains(right.Rule.Verbs, "watch")
			}
		}
		for _, resource := range d.Needs {
			assert.True(t, watched[resource.Resource] || watched["*"], "%s has no right to watch %s", d.Name,
				resource.Resource)
		}
	}
}

package cluster_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/cluster"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// trial is the in-memory API server, which reports itself as a real one unless the test sets
// otherwise.
type trial struct {
	*clustertest.Cluster
	t       *testing.T
	version string
	// forbidden reports whether a request is refused.
	forbidden func(*http.Request) bool
	// read are the methods of the requests so far.
	read []string
	// reports are the managedFields entries of namespaces with status writes. The in-memory
	// server keeps none.
	reports map[string]object
}

func newTrial(t *testing.T) *trial {
	nothing := func(*http.Request) bool { return false }
	c := &trial{t: t, version: "v1.36.3", forbidden: nothing, reports: map[string]object{}}
	c.Cluster = clustertest.Start(t, clustertest.Bare, func(inner http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.read = append(c.read, r.Method)
			switch {
			case c.forbidden(r):
				w.WriteHeader(http.StatusForbidden)
			case r.URL.Path == "/version" && c.version != "":
				_ = json.NewEncoder(w).Encode(api.VersionInfo{GitVersion: c.version})
			case r.Method == http.MethodGet && r.URL.Path == "/api/v1/namespaces" && r.URL.Query().Get("watch") == "":
				c.listNamespaces(inner, w, r)
			default:
				inner.ServeHTTP(w, r)
			}
		})
	})
	return c
}

// listNamespaces adds managedFields to the server's answer.
func (c *trial) listNamespaces(inner http.Handler, w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Accept", "application/json")
	r.Header.Del("Accept-Encoding")
	recorder := httptest.NewRecorder()
	inner.ServeHTTP(recorder, r)
	var list struct {
		Metadata object   `json:"metadata"`
		Items    []object `json:"items"`
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &list); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	for _, item := range list.Items {
		metadata := item["metadata"].(object)
		if entry, found := c.reports[metadata["name"].(string)]; found {
			metadata["managedFields"] = []any{entry}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// do sends an object.
func (c *trial) do(method, path string, document any) {
	c.t.Helper()
	body, err := json.Marshal(document)
	require.NoError(c.t, err)
	c.Must(method, path, string(body))
}

type object = map[string]any

// sidecar stands in each pod beside kube-controller-manager: its flag is about other controllers.
var sidecar = object{"name": "cloud", "image": "cloud", "command": []string{"cloud", "--controllers=cloud-node,route"}}

// manager creates a pod of kube-controller-manager.
func (c *trial) manager(name, ready string, words ...string) {
	c.t.Helper()
	pods := "/api/v1/namespaces/kube-system/pods"
	c.do("POST", pods, object{
		"metadata": object{"name": name, "labels": object{"component": "kube-controller-manager"}},
		"spec":     object{"containers": []any{object{"name": "m", "image": "m", "command": words}, sidecar}},
	})
	c.do("PATCH", pods+"/"+name+"/status", object{
		"status": object{"phase": "Running", "conditions": []any{object{"type": "Ready", "status": ready}}},
	})
}

// lease renews the Lease of kube-controller-manager.
func (c *trial) lease(holder string) {
	c.t.Helper()
	c.do("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", object{
		"metadata": object{"name": "kube-controller-manager"},
		"spec": object{"holderIdentity": holder, "leaseDurationSeconds": 15,
			"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")},
	})
}

// terminating creates a namespace that is being deleted.
func (c *trial) terminating(name string) {
	c.t.Helper()
	c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": name}})
	c.do("DELETE", "/api/v1/namespaces/"+name, object{})
}

// report writes the status of a namespace as a controller, now.
func (c *trial) report(name, manager string) {
	c.t.Helper()
	c.reports[name] = object{"manager": manager, "operation": "Update", "apiVersion": "v1", "subresource": "status",
		"time": time.Now().UTC().Format(time.RFC3339), "fieldsType": "FieldsV1",
		"fieldsV1": object{"f:status": object{"f:conditions": object{`k:{"type":"NamespaceContentRemaining"}`: object{".": object{}}}}}}
	c.do("PATCH", "/api/v1/namespaces/"+name+"/status", object{"status": object{"conditions": []any{object{
		"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain", "message": "x",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}})
}

// look returns the evidence of a cluster that a function has prepared.
func look(t *testing.T, prepare func(c *trial), of cluster.Controller) (evidence cluster.Evidence) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newTrial(t)
		prepare(c)
		c.read = nil
		var err error
		evidence, err = cluster.Look(t.Context(), c.Admin(), of)
		require.NoError(t, err)
		assert.Equal(t, []string{http.MethodGet}, slices.Compact(c.read), "nothing is written")
	})
	return evidence
}

func TestWhatAClusterShows(t *testing.T) {
	forbid := func(part string) func(*trial) {
		return func(c *trial) {
			c.forbidden = func(r *http.Request) bool { return strings.Contains(r.URL.Path, part) }
		}
	}
	type test struct {
		name    string
		prepare func(c *trial)
		want    cluster.Verdict
		how     string
	}
	tests := []test{
		{"nothing", func(c *trial) {}, cluster.Unknown, "neither the pod nor the Lease"},
		{"nothing may be seen", func(c *trial) { c.forbidden = func(*http.Request) bool { return true } },
			cluster.Unknown, "neither"},
		{"lab serve", func(c *trial) { c.version = ""; c.lease("x") }, cluster.Absent, "lab serve"},
		{"lab demo", func(c *trial) { c.version = "v1.36.3+orrery.demo" }, cluster.Present, "lab demo"},
		{"a pod with all controllers", func(c *trial) {
			c.manager("kube-controller-manager-m", "True", "kube-controller-manager", "--leader-elect=false")
		}, cluster.Present, "in the pod kube-system/kube-controller-manager-m"},
		{"a pod without", func(c *trial) {
			c.manager("kube-controller-manager-m", "True", "kube-controller-manager",
				"--controllers=*,-namespace-controller")
			c.lease("m")
		}, cluster.Absent, "without its own"},
		{"one pod with and one without", func(c *trial) {
			c.manager("a", "True", "kube-controller-manager", "--controllers=*,-namespace-controller")
			c.manager("b", "True", "kube-controller-manager", "--controllers=*")
		}, cluster.Present, "kube-system/b"},
		{"a pod that does not work", func(c *trial) {
			c.manager("m", "False", "kube-controller-manager")
		}, cluster.Unknown, ""},
		{"a pod that is being deleted", func(c *trial) {
			c.manager("m", "True", "kube-controller-manager")
			pod := "/api/v1/namespaces/kube-system/pods/m"
			c.do("PATCH", pod, object{"metadata": object{"finalizers": []string{"example.com/keep"}}})
			c.do("DELETE", pod, object{})
		}, cluster.Unknown, ""},
		{"a status of a moment ago", func(c *trial) {
			c.terminating("going")
			c.report("going", "kube-controller-manager")
			time.Sleep(14 * time.Second)
		}, cluster.Present, "the status of the namespace going"},
		{"a status of a program that has kube-controller-manager in it", func(c *trial) {
			c.terminating("going")
			c.report("going", "k3s")
		}, cluster.Present, "k3s wrote the status of the namespace going"},
		{"a status of this program", func(c *trial) {
			c.terminating("going")
			c.report("going", "orrery")
		}, cluster.Unknown, ""},
		{"a status of long ago", func(c *trial) {
			c.terminating("going")
			c.report("going", "kube-controller-manager")
			time.Sleep(15 * time.Second) // as long as a restart that switches it off
		}, cluster.Unknown, ""},
		{"a namespace that no controller deletes", func(c *trial) {
			c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": "here"}})
			c.report("here", "kube-controller-manager")
		}, cluster.Unknown, ""},
		{"a Lease", func(c *trial) { c.lease("m_1"); time.Sleep(15 * time.Second) }, cluster.Possible,
			"its Lease kube-system/kube-controller-manager was renewed at"},
		{"a Lease that is not renewed", func(c *trial) { c.lease("m_1"); time.Sleep(16 * time.Second) },
			cluster.Unknown, ""},
		{"a Lease that was released", func(c *trial) { c.lease("") }, cluster.Unknown, ""},
		{"a Lease, and pods may not be seen", func(c *trial) {
			c.manager("m", "True", "kube-controller-manager")
			c.lease("m_1")
			forbid("/pods")(c)
		}, cluster.Possible, ""},
		{"a Lease that may not be seen", func(c *trial) { c.lease("m_1"); forbid("/leases")(c) }, cluster.Unknown, ""},
	}
	// The evidence is the same for other controllers, except the status of namespaces.
	all := func(c *trial) { c.manager("m", "True", "kube-controller-manager", "--controllers=*,-namespace") }
	others := []test{
		{"replica sets in lab demo", func(c *trial) { c.version = "v1.36.3+orrery.demo" }, cluster.Absent,
			"nothing else"},
		{"replica sets, on", all, cluster.Present, "runs its own"},
		{"replica sets, off", func(c *trial) {
			c.manager("m", "True", "kube-controller-manager", "--controllers=*,-replicaset")
		}, cluster.Absent, "without"},
		{"replica sets and a Lease", func(c *trial) { c.lease("m_1") }, cluster.Possible,
			"whether its replicaset controller is on"},
		{"replica sets and nothing", func(*trial) {}, cluster.Unknown, ""},
	}
	for i, test := range slices.Concat(tests, others) {
		t.Run(test.name, func(t *testing.T) {
			of := cluster.NamespaceController
			if i >= len(tests) {
				of = cluster.Controller{Name: "replicaset-controller", Alias: "replicaset"}
			}
			evidence := look(t, test.prepare, of)
			assert.Equal(t, test.want, evidence.Verdict, "%s: %s", evidence.Verdict, evidence.How)
			assert.Contains(t, evidence.How, test.how)
		})
	}
}

// The flag is parsed as kube-controller-manager parses it.
func TestCommandLines(t *testing.T) {
	for line, on := range map[string]bool{
		"kube-controller-manager":                                          true,
		"kube-controller-manager --controllers=*":                          true,
		"kube-controller-manager --controllers=*,-namespace":               false,
		"kube-controller-manager --controllers=-namespace-controller,*":    false,
		"kube-controller-manager --controllers *,-namespace-controller":    false,
		"kube-controller-manager -controllers=*,-namespace-controller":     false,
		"kube-controller-manager --controllers=namespace":                  true,
		"kube-controller-manager --controllers=deployment-controller":      false,
		"kube-controller-manager --controllers=* --controllers=-namespace": false,
		`sh -c "kube-controller-manager --controllers='*,-namespace'"`:     false,
		"kube-controller-manager --other-controllers=-namespace":           true,
	} {
		t.Run(line, func(t *testing.T) {
			words := strings.Fields(line)
			if strings.HasPrefix(line, "sh") {
				words = []string{"sh", "-c", strings.Trim(strings.TrimPrefix(line, "sh -c "), `"`)}
			}
			want := cluster.Absent
			if on {
				want = cluster.Present
			}
			run := func(c *trial) { c.manager("m", "True", words...) }
			evidence := look(t, run, cluster.NamespaceController)
			assert.Equal(t, want, evidence.Verdict, evidence.How)
		})
	}
}

// The advice keeps the enabled controllers on. On kubeadm and minikube these include
// bootstrapsigner and tokencleaner; with "*,-namespace-controller" alone, nodes could no longer
// join.
func TestSwitchOffKeepsOtherControllers(t *testing.T) {
	pod := func(words ...string) func(*trial) {
		return func(c *trial) { c.manager("m", "True", append([]string{"kube-controller-manager"}, words...)...) }
	}
	for switchOff, prepare := range map[string]func(*trial){
		"start it with --controllers=*,-namespace-controller":                              pod(),
		"start it with --controllers=*,bootstrapsigner,tokencleaner,-namespace-controller": pod("--controllers=*,bootstrapsigner,tokencleaner"),
		"start it with --controllers=deployment,-namespace-controller":                     pod("--controllers=namespace,deployment"),
		"start k3s with --kube-controller-manager-arg=controllers=*,-namespace-controller": func(c *trial) { c.terminating("a"); c.report("a", "k3s") },
		"write --controllers=*,-namespace-controller into args/kube-controller-manager of microk8s": func(c *trial) {
			c.terminating("a")
			c.report("a", "kubelite")
		},
		`add -namespace-controller to the --controllers of kube-controller-manager, or "*,-namespace-controller" if it has none`: func(c *trial) { c.lease("m_1") },
		`use "lab serve", which runs none`: func(c *trial) { c.version = "v1.36.3+orrery.demo" },
		"":                                 func(c *trial) { c.version = "" },
	} {
		evidence := look(t, prepare, cluster.NamespaceController)
		advice := strings.TrimSuffix(evidence.SwitchOff, " (docs/operate/running.md says where)")
		assert.Equal(t, switchOff, advice, evidence.How)
	}
}

func TestAnEndedContextIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTrial(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := cluster.Look(ctx, c.Admin(), cluster.NamespaceController)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

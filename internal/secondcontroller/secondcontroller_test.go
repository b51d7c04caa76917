package secondcontroller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/secondcontroller"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// cluster is the API server in memory, which calls itself a genuine one unless the test says otherwise.
type cluster struct {
	t       *testing.T
	client  *restclient.Client
	version string
	// forbidden tells of requests that are refused.
	forbidden func(*http.Request) bool
	// slowness is how long each answer takes.
	slowness time.Duration
	// lost says which requests are done, late, and not answered: the connection breaks.
	lost func(*http.Request) bool
	// reports are the entries in managedFields of namespaces that somebody has reported on. The server in memory keeps none.
	reports map[string]object
}

func nothing(*http.Request) bool { return false }

func newCluster(t *testing.T) *cluster {
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	c := &cluster{t: t, version: "v1.36.3", forbidden: nothing, lost: nothing, reports: map[string]object{}}
	inner := server.Handler()
	pipes := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(c.slowness)
		switch {
		case c.forbidden(r):
			w.WriteHeader(http.StatusForbidden)
		case c.lost(r):
			time.Sleep(lostAfter)
			inner.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/version" && c.version != "":
			_ = json.NewEncoder(w).Encode(api.VersionInfo{GitVersion: c.version})
		case r.Method == http.MethodGet && r.URL.Path == "/api/v1/namespaces" && r.URL.Query().Get("watch") == "":
			c.listNamespaces(inner, w, r)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	c.client = pipes.Client()
	return c
}

// lostAfter is how late a request is done whose answer is lost.
const lostAfter = 700 * time.Millisecond

// canaries are the namespaces that Try has made.
func (c *cluster) canaries() []*api.Namespace {
	c.t.Helper()
	list, err := restclient.Typed[*api.Namespace](c.client, api.NamespacesResource, "").List(context.WithoutCancel(c.t.Context()), api.ListOptions{})
	require.NoError(c.t, err)
	return slices.DeleteFunc(list.Items, func(namespace *api.Namespace) bool {
		return !strings.HasPrefix(namespace.Name, secondcontroller.CanaryPrefix)
	})
}

// listNamespaces adds managedFields to what the server answers.
func (c *cluster) listNamespaces(inner http.Handler, w http.ResponseWriter, r *http.Request) {
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

// do sends a document.
func (c *cluster) do(method, path string, document any) {
	c.t.Helper()
	body, err := json.Marshal(document)
	require.NoError(c.t, err)
	request := restclient.Request{Verb: method, Path: path, Body: body}
	if method == http.MethodPatch {
		request.ContentType = string(api.MergePatchType)
	}
	require.NoError(c.t, c.client.Do(c.t.Context(), request, nil))
}

type object = map[string]any

// manager makes a pod of kube-controller-manager.
func (c *cluster) manager(name, ready string, words ...string) {
	c.t.Helper()
	pods := "/api/v1/namespaces/kube-system/pods"
	c.do("POST", pods, object{
		"metadata": object{"name": name, "labels": object{"component": "kube-controller-manager"}},
		"spec":     object{"containers": []any{object{"name": "m", "image": "m", "command": words}}},
	})
	c.do("PATCH", pods+"/"+name+"/status", object{
		"status": object{"phase": "Running", "conditions": []any{object{"type": "Ready", "status": ready}}},
	})
}

// lease has kube-controller-manager renew its Lease now.
func (c *cluster) lease(holder string) {
	c.t.Helper()
	c.do("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", object{
		"metadata": object{"name": "kube-controller-manager"},
		"spec": object{"holderIdentity": holder, "leaseDurationSeconds": 15,
			"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")},
	})
}

// terminating makes a namespace that is being deleted.
func (c *cluster) terminating(name string) {
	c.t.Helper()
	c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": name}})
	c.do("DELETE", "/api/v1/namespaces/"+name, object{})
}

// report has a controller write the status of a namespace, now.
func (c *cluster) report(name, manager string) {
	c.t.Helper()
	c.reports[name] = object{"manager": manager, "operation": "Update", "apiVersion": "v1", "subresource": "status",
		"time": time.Now().UTC().Format(time.RFC3339), "fieldsType": "FieldsV1",
		"fieldsV1": object{"f:status": object{"f:conditions": object{`k:{"type":"NamespaceContentRemaining"}`: object{".": object{}}}}}}
	c.do("PATCH", "/api/v1/namespaces/"+name+"/status", object{"status": object{"conditions": []any{object{
		"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain", "message": "x",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}})
}

// finalize takes a namespace down, as a namespace controller does.
func (c *cluster) finalize(ctx context.Context, name string) error {
	namespaces := restclient.Typed[*api.Namespace](c.client, api.NamespacesResource, "")
	namespace, err := namespaces.Get(ctx, name, api.GetOptions{})
	if err != nil {
		return err
	}
	namespace.Spec.Finalizers = nil
	_, err = namespaces.UpdateSubresource(ctx, name, "finalize", namespace, api.UpdateOptions{})
	return err
}

func TestWhatAClusterShows(t *testing.T) {
	forbid := func(part string) func(*cluster) {
		return func(c *cluster) {
			c.forbidden = func(r *http.Request) bool { return strings.Contains(r.URL.Path, part) }
		}
	}
	tests := []struct {
		name    string
		prepare func(c *cluster)
		want    secondcontroller.Verdict
		how     string
	}{
		{"nothing", func(c *cluster) {}, secondcontroller.Unknown, "neither the pod nor the Lease"},
		{"nothing may be seen", func(c *cluster) { c.forbidden = func(*http.Request) bool { return true } }, secondcontroller.Unknown, "neither"},
		{"orrery serve", func(c *cluster) { c.version = ""; c.lease("x") }, secondcontroller.Absent, "orrery serve"},
		{"orrery demo", func(c *cluster) { c.version = "v1.36.3+orrery.demo" }, secondcontroller.Present, "orrery demo"},
		{"a pod with all controllers", func(c *cluster) {
			c.manager("kube-controller-manager-m", "True", "kube-controller-manager", "--leader-elect=false")
		}, secondcontroller.Present, "in the pod kube-system/kube-controller-manager-m"},
		{"a pod without", func(c *cluster) {
			c.manager("kube-controller-manager-m", "True", "kube-controller-manager", "--controllers=*,-namespace-controller")
			c.lease("m")
		}, secondcontroller.Absent, "without its own"},
		{"one pod with and one without", func(c *cluster) {
			c.manager("a", "True", "kube-controller-manager", "--controllers=*,-namespace-controller")
			c.manager("b", "True", "kube-controller-manager", "--controllers=*")
		}, secondcontroller.Present, "kube-system/b"},
		{"a pod that does not work", func(c *cluster) {
			c.manager("m", "False", "kube-controller-manager")
		}, secondcontroller.Unknown, ""},
		{"a status of a moment ago", func(c *cluster) {
			c.terminating("going")
			c.report("going", "kube-controller-manager")
			time.Sleep(10 * time.Second)
		}, secondcontroller.Present, "the status of the namespace going"},
		{"a status of a program that has kube-controller-manager in it", func(c *cluster) {
			c.terminating("going")
			c.report("going", "k3s")
		}, secondcontroller.Present, "k3s wrote the status of the namespace going"},
		{"a status of this program", func(c *cluster) {
			c.terminating("going")
			c.report("going", "orrery")
		}, secondcontroller.Unknown, ""},
		{"a status of long ago", func(c *cluster) {
			c.terminating("going")
			c.report("going", "kube-controller-manager")
			time.Sleep(time.Minute)
		}, secondcontroller.Unknown, ""},
		{"a namespace that nobody deletes", func(c *cluster) {
			c.do("POST", "/api/v1/namespaces", object{"metadata": object{"name": "here"}})
			c.report("here", "kube-controller-manager")
		}, secondcontroller.Unknown, ""},
		{"a Lease", func(c *cluster) { c.lease("m_1"); time.Sleep(10 * time.Second) }, secondcontroller.Suspected, "its Lease kube-system/kube-controller-manager was renewed at"},
		{"a Lease that is not renewed", func(c *cluster) { c.lease("m_1"); time.Sleep(20 * time.Second) }, secondcontroller.Unknown, ""},
		{"a Lease that was released", func(c *cluster) { c.lease("") }, secondcontroller.Unknown, ""},
		{"a Lease, and pods may not be seen", func(c *cluster) {
			c.manager("m", "True", "kube-controller-manager")
			c.lease("m_1")
			forbid("/pods")(c)
		}, secondcontroller.Suspected, ""},
		{"a Lease that may not be seen", func(c *cluster) { c.lease("m_1"); forbid("/leases")(c) }, secondcontroller.Unknown, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				test.prepare(c)
				evidence, err := secondcontroller.Look(t.Context(), c.client)
				require.NoError(t, err)
				assert.Equal(t, test.want, evidence.Verdict, "%s: %s", evidence.Verdict, evidence.How)
				assert.Contains(t, evidence.How, test.how)
			})
		})
	}
}

// How kube-controller-manager reads its flag is how the flag has to be read here.
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
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				words := strings.Fields(line)
				if strings.HasPrefix(line, "sh") {
					words = []string{"sh", "-c", strings.Trim(strings.TrimPrefix(line, "sh -c "), `"`)}
				}
				c.manager("m", "True", words...)
				evidence, err := secondcontroller.Look(t.Context(), c.client)
				require.NoError(t, err)
				assert.Equal(t, map[bool]secondcontroller.Verdict{true: secondcontroller.Present, false: secondcontroller.Absent}[on], evidence.Verdict, evidence.How)
			})
		})
	}
}

func TestCanary(t *testing.T) {
	tests := []struct {
		name  string
		other func(ctx context.Context, c *cluster, canary string) error // from 5 s after the deletion on
		want  secondcontroller.Verdict
		took  time.Duration
	}{
		{"nobody", func(context.Context, *cluster, string) error { return nil }, secondcontroller.Absent, 10 * time.Second},
		{"somebody finalizes it", func(ctx context.Context, c *cluster, canary string) error { return c.finalize(ctx, canary) }, secondcontroller.Present, 5 * time.Second},
		{"somebody reports", func(_ context.Context, c *cluster, canary string) error { c.report(canary, "x"); return nil }, secondcontroller.Present, 5 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				assert.True(t, secondcontroller.MayTry(t.Context(), c.client))
				started, told := time.Now(), make(chan error, 1)
				evidence, err := secondcontroller.Try(t.Context(), c.client, func(canary string) {
					assert.True(t, strings.HasPrefix(canary, secondcontroller.CanaryPrefix), canary)
					go func() {
						time.Sleep(5*time.Second - time.Millisecond)
						told <- test.other(t.Context(), c, canary)
					}()
				})
				require.NoError(t, err)
				require.NoError(t, <-told)
				assert.Equal(t, test.want, evidence.Verdict, evidence.How)
				assert.Equal(t, test.took, time.Since(started).Round(time.Second))
				for _, namespace := range c.canaries() {
					assert.NotNil(t, namespace.DeletionTimestamp, "one, and it is left to whoever works")
				}
			})
		})
	}
}

// Where the server takes a second for an answer the other controller needs more than some moments, and gets it.
func TestCanaryOfASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.slowness = time.Second
		told := make(chan error, 1)
		evidence, err := secondcontroller.Try(t.Context(), c.client, func(canary string) {
			go func() {
				time.Sleep(20 * time.Second)
				told <- c.finalize(t.Context(), canary)
			}()
		})
		require.NoError(t, err)
		require.NoError(t, <-told)
		assert.Equal(t, secondcontroller.Present, evidence.Verdict, evidence.How)
	})
}

// One that hardly answers keeps nobody waiting for long.
func TestCanaryOfAVerySlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.slowness = 4 * time.Second
		var began time.Time
		evidence, err := secondcontroller.Try(t.Context(), c.client, func(string) { began = time.Now() })
		require.NoError(t, err)
		assert.Equal(t, secondcontroller.Absent, evidence.Verdict, evidence.How)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestCanaryThatMayNotBe(t *testing.T) {
	for _, method := range []string{"POST", "DELETE"} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			c.forbidden = func(r *http.Request) bool { return r.Method == method }
			assert.False(t, secondcontroller.MayTry(t.Context(), c.client))
			evidence, err := secondcontroller.Try(t.Context(), c.client, func(string) { t.Error("there is nothing to wait for") })
			require.NoError(t, err)
			assert.Equal(t, secondcontroller.Unknown, evidence.Verdict)
			assert.Contains(t, evidence.How, map[string]string{"POST": "cannot be created", "DELETE": "cannot be deleted"}[method])
			assert.Empty(t, c.canaries(), "one that could not be deleted would stay")
		})
	}
}

// MayTry has the server judge, and makes nothing.
func TestMayTryMakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		namespaces := restclient.Metadata(c.client, api.NamespacesResource, "")
		before, err := namespaces.List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		require.True(t, secondcontroller.MayTry(t.Context(), c.client))
		after, err := namespaces.List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, after.Items, len(before.Items))
	})
}

func TestAnEndedContextIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := secondcontroller.Try(ctx, c.client, func(string) { time.AfterFunc(time.Second, cancel) })
		assert.ErrorIs(t, err, context.Canceled)
		_, err = secondcontroller.Look(ctx, c.client)
		assert.ErrorIs(t, err, context.Canceled)
		_, err = secondcontroller.Try(ctx, c.client, func(string) {})
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestVerdictsHaveNames(t *testing.T) {
	assert.Equal(t, "unknown suspected absent present", fmt.Sprint(secondcontroller.Unknown, secondcontroller.Suspected, secondcontroller.Absent, secondcontroller.Present))
}

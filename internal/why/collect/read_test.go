package collect

import (
	"encoding/json"
	"net/http"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// A terminating pod may run until the end of its grace period: it is a sign of life.
func TestAPodInDeletionThatRuns(t *testing.T) {
	c, _ := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[
		{"metadata":{"name":"runs","deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running","containerStatuses":[{"state":{"running":{}}}]}},
		{"metadata":{"name":"ended","deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running"}}]}`)
	c.workloads(t.Context())
	var pods []string
	for _, w := range c.evidence.Workloads.Items {
		if w.Kind == why.PodKind {
			pods = append(pods, w.Name)
		}
	}
	assert.Equal(t, []string{"runs"}, pods)
}

// A Lease whose version differs from that before the interval was written in between.
func TestALeaseThatWasWrittenInBetween(t *testing.T) {
	lease := func(name, version string) string {
		return `{"metadata":{"namespace":"ops","name":"` + name + `","resourceVersion":"` + version + `"},"spec":{}}`
	}
	answer := lease("still", "1") + "," + lease("moves", "2")
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[` + answer + `]}`))
	}))
	moved := func(c *collector) (names []string) {
		for _, l := range list(t.Context(), c, leasesResource, "", api.ListOptions{}, c.leaseAgain).Items {
			if l.Moved {
				names = append(names, l.Name)
			}
		}
		return names
	}
	c := newCollector(server.Client(), "shop", Options{})
	c.noteLeases(t.Context(), c)
	assert.Nil(t, c.versions, "no owner is looked for")
	o := why.Object{Name: "a", Finalizers: []string{"example.com/x"}, Deleted: time.Now()}
	c.evidence.Namespace = &why.Namespace{Deleted: time.Now()}
	c.evidence.Types = []why.Type{{Resource: "configmaps", Objects: []why.Object{o}}}
	c.noteLeases(t.Context(), c)
	assert.Empty(t, moved(c))
	answer = lease("still", "1") + "," + lease("moves", "3") + "," + lease("new", "4")
	assert.Equal(t, []string{"moves"}, moved(c))
}

// Any server may answer 404. One that is no API server cannot list namespaces either; one that
// forbids that is an API server.
func TestANamespaceThatIsNotThere(t *testing.T) {
	for name, test := range map[string]struct {
		list     http.HandlerFunc
		fails    bool
		unlisted bool
	}{
		"a web server": {http.NotFound, true, false},
		"a page":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, true, false},
		"no right to list": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`))
		}, false, true},
		"none": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[]}`))
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/v1/namespaces" {
					test.list(w, r)
					return
				}
				http.NotFound(w, r)
			}))
			evidence, err := Collect(t.Context(), server.Client(), "shop", Options{})
			assert.Equal(t, test.fails, err != nil, err)
			assert.Equal(t, test.unlisted, evidence.Unlisted != nil)
		})
	}
}

// A right to everything is one to the held type, however it is written.
func TestARightToEverything(t *testing.T) {
	c, _ := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"admin"},
		"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},{"verbs":["get","list"],"apiGroups":["g.io"],"resources":["*"]}],
		"roleRef":{"kind":"ClusterRole","name":"admin"},"subjects":[{"kind":"ServiceAccount","namespace":"ops","name":"engine"}]}]}`)
	c.grants(t.Context(), []why.Held{{Type: &why.Type{Group: "g.io", Version: "v1", Resource: "things"}, Finalizer: "example.com/x"}})
	require.NotEmpty(t, c.evidence.Grants.Items)
	for _, g := range c.evidence.Grants.Items {
		assert.Equal(t, why.Grant{Subject: "serviceaccount engine", Service: why.Service{Namespace: "ops", Name: "engine"}, Group: "*", Resources: []string{"*"}}, g)
	}
}

// An owner is asked about for the held object, because a role may name single ones.
func TestWhatOwnersAreAskedAbout(t *testing.T) {
	var asked []any
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Spec struct {
				Groups             []string       `json:"groups"`
				ResourceAttributes map[string]any `json:"resourceAttributes"`
			} `json:"spec"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&review))
		assert.Equal(t, []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:keda"}, review.Spec.Groups)
		asked = append(asked, review.Spec.ResourceAttributes)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":{"allowed":false}}`))
	}))
	c := newCollector(server.Client(), "shop", Options{})
	e := &c.evidence
	held := why.Object{Name: "a", Deleted: time.Now(), Finalizers: []string{"finalizer.keda.sh"}}
	e.Types = []why.Type{{Group: "keda.sh", Version: "v1", Resource: "scaledobjects", Count: 1, Objects: []why.Object{held}}}
	e.Workloads.Items = []why.Workload{{Kind: "deployment", Namespace: "keda", Name: "keda-operator", Ready: 1}}
	c.ownersRights(t.Context())
	about := func(verb string) map[string]any {
		return map[string]any{"namespace": "shop", "verb": verb, "group": "keda.sh", "resource": "scaledobjects", "subresource": "", "name": "a"}
	}
	list := about("list")
	list["name"] = ""
	impersonate := map[string]any{"namespace": "shop", "verb": "impersonate", "group": "", "resource": "serviceaccounts", "subresource": "", "name": ""}
	assert.Equal(t, []any{about("update"), about("patch"), list, impersonate}, asked)
	assert.Equal(t, "a", e.Reviews[0].Name)

	asked = nil
	c.review(t.Context(), why.Refusal{User: "system:serviceaccount:keda:x", Verb: "patch", Resource: "services/status", Name: "web"})
	assert.Equal(t, []any{map[string]any{"namespace": "shop", "verb": "patch", "group": "", "resource": "services", "subresource": "status", "name": "web"}}, asked)
}

// The namespace itself is not in a namespace.
func TestTheStampOfTheNamespace(t *testing.T) {
	c, requests := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
	c.evidence.Namespace = &why.Namespace{UID: "u", Deleted: time.Now(), Finalizers: []string{"example.com/audit"}}
	c.stamps(t.Context(), c.evidence.HeldNamespace())
	assert.Equal(t, []string{"GET /api/v1/namespaces metadata.name=shop"}, *requests)
}

// The endpoints of a Service may be in several slices, of which the last has none that is ready.
func TestEndpointsInSeveralSlices(t *testing.T) {
	c, _ := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[
		{"metadata":{"name":"guard"},"endpoints":[{"addresses":["192.0.2.1"]},{"addresses":["192.0.2.2"]}]},{"metadata":{"name":"guard-2"}}]}`)
	assert.Equal(t, 2, c.backend(t.Context(), why.Service{Namespace: "a", Name: "guard"}).Ready)
}

// When an obstacle was written shows whether the controller has met it as it is.
func TestWhenObstaclesWereChanged(t *testing.T) {
	c, _ := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"x","managedFields":[{"manager":"m","time":"2026-01-02T03:05:00Z"}],
		"annotations":{"meta.helm.sh/release-name":"r","meta.helm.sh/release-namespace":"n"}},"webhooks":[{"name":"w"}]}]}`)
	at := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
	whole := list(t.Context(), c, definitionsResource, "", api.ListOptions{}, definition).Items[0]
	assert.Equal(t, at, whole.Changed)
	assert.Equal(t, why.Service{Namespace: "n", Name: "r"}, whole.Release)
	assert.Equal(t, whole.Release, c.definitions(t.Context()).Items[0].Release, "by the metadata alone")
	c.policies(t.Context())
	for _, p := range c.evidence.Policies.Items {
		assert.Equal(t, at, p.Changed, p)
	}
	c.webhooks(t.Context())
	for _, w := range c.evidence.Webhooks.Items {
		assert.Equal(t, at, w.Changed, w.Resource)
	}
}

// A webhook is narrowed by its objectSelector or by matchConditions. Both kinds are read.
func TestWebhooksThatAreNarrowed(t *testing.T) {
	c, _ := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"guard"},"webhooks":[{"name":"all","objectSelector":{}},
		{"name":"labels","objectSelector":{"matchLabels":{"a":"b"}}},{"name":"conditions","matchConditions":[{"name":"x","expression":"true"}]}]}]}`)
	c.webhooks(t.Context())
	narrowed := map[string]bool{}
	for _, w := range c.evidence.Webhooks.Items {
		narrowed[w.Resource+" "+w.Name] = w.Narrowed
	}
	assert.Equal(t, map[string]bool{
		"validatingwebhookconfigurations all": false, "validatingwebhookconfigurations labels": true, "validatingwebhookconfigurations conditions": true,
		"mutatingwebhookconfigurations all": false, "mutatingwebhookconfigurations labels": true, "mutatingwebhookconfigurations conditions": true,
	}, narrowed)
}

// A container of any sort may run on.
func TestRunningContainers(t *testing.T) {
	var item pod
	require.NoError(t, json.Unmarshal([]byte(`{"metadata":{"name":"p"},"status":{"initContainerStatuses":[{"name":"init","state":{"running":{}}}],
		"containerStatuses":[{"name":"main","state":{"waiting":{}}}],"ephemeralContainerStatuses":[{"name":"debug","state":{"running":{}}}]}}`), &item))
	assert.Equal(t, []string{"init", "debug"}, podOf(&item, why.Object{}).Running)
}

// A pod uses the claims of its volumes, also those of generic ephemeral ones.
func TestClaimsOfAPod(t *testing.T) {
	var item pod
	require.NoError(t, json.Unmarshal([]byte(`{"metadata":{"name":"p"},"spec":{"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"data"}},
		{"name":"scratch","ephemeral":{"volumeClaimTemplate":{}}},{"name":"e","emptyDir":{}}]}}`), &item))
	assert.Equal(t, []string{"data", "p-scratch"}, podOf(&item, why.Object{}).Claims)
}

// Mutating policies that may refuse a request are read where the server has them.
func TestMutatingPolicies(t *testing.T) {
	served, refusal := "v1", http.StatusNotFound
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		items := ""
		if version := path.Base(path.Dir(r.URL.Path)); version != served {
			w.WriteHeader(refusal)
			return
		}
		if path.Base(r.URL.Path) == "mutatingadmissionpolicies" {
			items = `{"metadata":{"name":"refuses"},"spec":{"matchConstraints":{"namespaceSelector":{"matchLabels":{"team":"b"}},"resourceRules":[{"operations":["UPDATE"],"apiGroups":[""],"resources":["pods"]}]}}},
				{"metadata":{"name":"ignores"},"spec":{"failurePolicy":"Ignore"}}`
		}
		if path.Base(r.URL.Path) == "mutatingadmissionpolicybindings" {
			items = `{"metadata":{"name":"b"},"spec":{"policyName":"refuses"}}`
		}
		_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[` + items + `]}`))
	}))
	for _, test := range []struct {
		served  string // version of the API
		refusal int
		known   bool
	}{
		{"v1", http.StatusNotFound, true}, {"v1beta1", http.StatusNotFound, true}, {"v1alpha1", http.StatusNotFound, true},
		{"none", http.StatusNotFound, true}, {"none", http.StatusForbidden, false},
	} {
		served, refusal = test.served, test.refusal
		c := newCollector(server.Client(), "shop", Options{})
		c.policies(t.Context())
		assert.Equal(t, test.known, c.evidence.Policies.Known(), test)
		if served == "none" {
			assert.Empty(t, c.evidence.Policies.Items)
		} else {
			require.Len(t, c.evidence.Policies.Items, 2)
			assert.Equal(t, why.Policy{Name: "b", Binding: true, Mutating: true, Of: "refuses"}, c.evidence.Policies.Items[1])
			assert.Equal(t, why.Policy{
				Name: "refuses", Mutating: true, NamespaceOnly: why.Selector{Labels: map[string]string{"team": "b"}},
				Rules: []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""}, Resources: []string{"pods"}}},
			}, c.evidence.Policies.Items[0])
		}
	}
}

// A list that starts over because its token expired has each namespace once.
func TestNamespacesInDeletionOfAnExpiredList(t *testing.T) {
	expired := false
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		page := `{"continue":"next"},"items":[{"metadata":{"name":"a"}}]`
		switch {
		case r.URL.Query().Get("continue") != "" && !expired:
			expired = true
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","code":410}`))
			return
		case r.URL.Query().Get("continue") != "":
			page = `{},"items":[{"metadata":{"name":"b"}}]`
		}
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":` + page + `}`))
	}))
	names, err := newCollector(server.Client(), "", Options{}).inDeletionNow(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, names)
}

// The value of --controllers may stand behind it, too, and several add up.
func TestTheControllersOfAManager(t *testing.T) {
	pod := &api.Unstructured{Object: map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"command": []any{"kube-controller-manager", "--controllers", "*"}, "args": []any{"--controllers=-ttl", "--profiling"},
	}}}}}
	m, ok := manager(pod)
	assert.True(t, ok)
	assert.Equal(t, "*,-ttl", m.Controllers)
}

// A proxy in front of the API server answers 404 to the second GET of the namespace only.
func TestASecond404OfAProxy(t *testing.T) {
	gets := 0
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces/shop" {
			if gets++; gets == 1 {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","uid":"u","resourceVersion":"7","deletionTimestamp":"2026-01-02T03:04:05Z"},"spec":{"finalizers":["kubernetes"]}}`))
				return
			}
			http.Error(w, "default backend - 404", http.StatusNotFound)
			return
		}
		http.Error(w, "default backend - 404", http.StatusNotFound)
	}))
	e, err := Collect(t.Context(), server.Client(), "shop", Options{Interval: time.Millisecond})
	require.NoError(t, err)
	report := why.Judge(e)
	assert.NotEqual(t, why.Absent, report.Verdict)
}

// Another container of the pod may have a flag of that name, too.
func TestTheControllersOfAnotherContainer(t *testing.T) {
	pod := &api.Unstructured{Object: map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "kube-controller-manager", "command": []any{"/manager"}, "args": []any{"--controllers=*"}},
		map[string]any{"name": "cloud", "args": []any{"--controllers=cloud-node,route"}},
	}}}}
	m, _ := manager(pod)
	assert.Equal(t, "*", m.Controllers)
}

// A Deployment without replicas was stopped when it was last written, as far as that is known; one
// with replicas is judged by its conditions.
func TestSinceWhenAWorkloadIsStopped(t *testing.T) {
	written := []any{map[string]any{"manager": "kubectl", "subresource": "scale", "time": "2026-01-02T03:04:05Z"}}
	for replicas, since := range map[int64]time.Time{0: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 1: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} {
		w := workload("deployment", &api.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": written}, "spec": map[string]any{"replicas": replicas},
		}})
		assert.Equal(t, since, w.Since, replicas)
	}
}

// A pod of kube-controller-manager has started when a container of it last did.
func TestWhenAManagerStarted(t *testing.T) {
	m, _ := manager(&api.Unstructured{Object: map[string]any{"status": map[string]any{"containerStatuses": []any{
		map[string]any{"state": map[string]any{"running": map[string]any{"startedAt": "2026-01-02T03:04:05Z"}}},
	}}}})
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), m.Since)
}

// A list whose continue token expires starts over: each object counts once.
func TestContentOfAnExpiredList(t *testing.T) {
	for _, gvr := range []api.GroupVersionResource{api.PodsResource, {Version: "v1", Resource: "configmaps"}} {
		expired := false
		server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			items := `{"continue":"next"},"items":[{"metadata":{"namespace":"shop","name":"a","finalizers":["example.com/x"]}}]`
			switch {
			case r.URL.Query().Get("continue") != "":
				expired = true
				writeStatus(w, http.StatusGone, "Expired", "the token is too old")
				return
			case expired:
				items = `{},"items":[{"metadata":{"namespace":"shop","name":"a","finalizers":["example.com/x"]}},{"metadata":{"namespace":"shop","name":"b"}}]`
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":` + items + `}`))
		}))
		c := newCollector(server.Client(), "shop", Options{})
		c.evidence.Namespace = &why.Namespace{}
		read := c.read(t.Context(), gvr, []*collector{c})
		require.Len(t, read, 1)
		assert.Nil(t, read[0].Failed)
		assert.Equal(t, 2, read[0].Count, gvr)
		assert.Equal(t, map[string]int{"example.com/x": 1}, read[0].Finalizers)
		assert.Len(t, read[0].Objects, 2)
		if gvr == api.PodsResource {
			assert.Len(t, c.evidence.Pods, 2)
		}
	}
}

// The singular of a type is the server's.
func TestTheSingularOfAType(t *testing.T) {
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[`
		switch r.URL.Path {
		case "/apis":
			answer += `{"metadata":{"name":"example.com"},"versions":[{"version":"v1","freshness":"Current","resources":[{"resource":"proxies",
				"singularResource":"proxy","scope":"Namespaced","responseKind":{"group":"example.com","version":"v1","kind":"Proxy"},"verbs":["list","delete"]}]}]}`
		case "/api":
		default:
			answer = `{"kind":"List","apiVersion":"v1","metadata":{},"items":[`
		}
		_, _ = w.Write([]byte(answer + "]}"))
	}))
	c := newCollector(server.Client(), "shop", Options{})
	c.evidence.Namespace = &why.Namespace{}
	c.content(t.Context())
	require.Len(t, c.evidence.Types, 1)
	assert.Equal(t, "proxy", c.evidence.Types[0].Singular)
}

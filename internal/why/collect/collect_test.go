package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// answer is a server's answer to a request: a Status if it has a code, a page if no API server
// gives it, an empty list if it has nothing.
type answer struct {
	code         int
	body, reason string
	kind, name   string // of the details of a Status
	page         string
}

// serving returns the client of a server.
func serving(t *testing.T, answers func(r *http.Request) answer) *restclient.Client {
	return restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers(r)
		if a.page != "" {
			http.Error(w, a.page, cmp.Or(a.code, http.StatusOK))
			return
		}
		if a.code != 0 {
			a.body = fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,
				"details":{"kind":%q,"name":%q}}`, a.reason, a.code, a.kind, a.name)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(cmp.Or(a.code, http.StatusOK))
		_, _ = w.Write([]byte(cmp.Or(a.body, listOf())))
	})).Client()
}

// listOf returns a list of objects in JSON.
func listOf(objects ...string) string {
	return `{"kind":"List","apiVersion":"v1","metadata":{},"items":[` + strings.Join(objects, ",") + `]}`
}

// headsOf returns a list of objects that have only names.
func headsOf(names ...string) string {
	var heads []string
	for _, name := range names {
		heads = append(heads, `{"metadata":{"name":"`+name+`"}}`)
	}
	return listOf(heads...)
}

// inDeletion returns a terminating namespace. status has the members of its status.
func inDeletion(name, status string) answer {
	return answer{body: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"` + name + `","uid":"u",
		"resourceVersion":"7","deletionTimestamp":"2026-01-02T03:04:05Z"},
		"spec":{"finalizers":["kubernetes"]},"status":{` + status + `}}`}
}

// shop is the path of the namespace that is examined.
const shop = "/api/v1/namespaces/shop"

// twice is short, with two samples.
var twice = Options{Interval: time.Millisecond}

// A namespace that may be listed and not read is reported, also beside one that may; one that is
// gone is not.
func TestAllOfWhichSomeMayNotBeRead(t *testing.T) {
	for _, test := range []struct{ listed, reported []string }{
		{[]string{"gone", "secret", "shop"}, []string{"secret", "shop"}}, {[]string{"secret"}, []string{"secret"}},
	} {
		client := serving(t, func(r *http.Request) answer {
			return map[string]answer{
				"/api/v1/namespaces":        {body: headsOf(test.listed...)},
				"/api/v1/namespaces/secret": {code: 403, reason: "Forbidden"},
				"/api/v1/namespaces/gone":   {code: 404, reason: "NotFound"},
				shop:                        inDeletion("shop", ""),
			}[r.URL.Path]
		})
		all, err := CollectAll(t.Context(), client, twice)
		require.NoError(t, err)
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		assert.Equal(t, test.reported, names)
		assert.NotZero(t, why.JudgeAll(all[:1]).ExitCode)
	}
}

// Only a 404 of the API server about the namespace says that it is gone at the second GET. A proxy
// may answer 404, possibly with a Status (Teleport: `kubernetes cluster "x" not found`), and a lost
// right says nothing. Discovery is read again if the condition DiscoveryFailure came with it.
func TestTheSecondAnswerAboutTheNamespace(t *testing.T) {
	for _, test := range []struct {
		answer
		verdict why.Verdict
	}{
		{answer{code: 404, page: "default backend - 404"}, why.Unknown},
		{answer{code: 404, reason: "NotFound"}, why.Unknown},
		{answer{code: 404, reason: "NotFound", kind: "clusters", name: "shop"}, why.Unknown},
		{answer{code: 404, reason: "NotFound", kind: "namespaces", name: "other"}, why.Unknown},
		{answer{code: 403, reason: "Forbidden", kind: "namespaces", name: "shop"}, why.Unknown},
		{answer{code: 404, reason: "NotFound", kind: "namespaces", name: "shop"}, why.Absent},
		{answer{body: `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","uid":"new"}}`}, why.Absent},
		{inDeletion("shop", `"conditions":[{"type":"NamespaceDeletionDiscoveryFailure","status":"True",
			"message":"x"}]`), why.Unknown},
	} {
		gets, discoveries := 0, 0
		client := serving(t, func(r *http.Request) answer {
			if r.URL.Path == shop {
				gets++
			}
			switch {
			case r.URL.Path == "/apis":
				discoveries++
				return answer{body: `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`}
			case r.URL.Path == shop && gets == 1:
				return inDeletion("shop", "")
			case r.URL.Path == shop:
				return test.answer
			}
			return answer{}
		})
		e, err := Collect(t.Context(), client, "shop", twice)
		require.NoError(t, err)
		assert.Equal(t, test.verdict, why.Judge(e).Verdict, "the second answer is %+v", test.answer)
		assert.Equal(t, strings.Contains(test.body, "DiscoveryFailure"), discoveries == 2, "discovery is read again")
	}
}

// A Lease that was written lately is renewed, although the clock of its holder is behind.
func TestTheLastWriteRenewsALease(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lease := func(written string) why.Lease {
		return leaseOf(nil, decoded[api.Lease](t, `{"metadata":{"managedFields":[{"manager":"m","time":"`+written+
			`"}]},"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"renewTime":"2026-01-02T03:02:35Z"}}`))[0]
	}
	assert.False(t, lease("2026-01-02T03:04:00Z").Expired(at))
	assert.True(t, lease("2026-01-02T03:02:35Z").Expired(at))
	assert.Equal(t, at.Add(-90*time.Second), lease("2026-01-02T02:00:00Z").Renewed)
	assert.Equal(t, 15*time.Second, lease("2026-01-02T02:00:00Z").Duration, "its duration is in seconds")
}

// The cluster is read after the interval, for each of several namespaces. Each of them allows for
// more requests.
func TestControlIsReadAfterTheInterval(t *testing.T) {
	var gets atomic.Int32
	names := strings.Fields(strings.Repeat("n ", 250))
	for i := range names {
		names[i] += fmt.Sprint(i)
	}
	client := serving(t, func(r *http.Request) answer {
		name, single := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
		switch {
		case r.URL.Path == "/api/v1/namespaces":
			return answer{body: headsOf(names...)}
		case single && slices.Contains(names, name):
			gets.Add(1)
			return inDeletion(name, "")
		case strings.HasSuffix(r.URL.Path, "/v1/leases"):
			return answer{body: headsOf(fmt.Sprint("after ", gets.Load()))}
		}
		return answer{}
	})
	all, err := CollectAll(t.Context(), client, twice)
	require.NoError(t, err)
	require.Len(t, all, len(names))
	for _, e := range all {
		require.Empty(t, e.Incomplete, "the limit of requests does not grow with the namespaces")
		require.Len(t, e.Leases.Items, 1)
		assert.Equal(t, "after 500", e.Leases.Items[0].Name, e.Name)
	}
	all, err = CollectAll(t.Context(), client, Options{Interval: -1, MaxRequests: len(names) + 1 + controlRequests})
	require.NoError(t, err)
	assert.True(t, all[0].Leases.Known(), "the cluster is read although the content has used up its requests")
	assert.NotEmpty(t, all[1].Incomplete, "a list for all that was left out is missing in each")
}

// However the waves are nested, no more than eight requests run at a time.
func TestRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(nil, "shop", Options{})
		var now, most atomic.Int64
		send := func(context.Context) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		}
		inner := func() {
			var reads []func()
			for range 4 {
				reads = append(reads, func() { assert.NoError(t, c.attempt(t.Context(), send)) })
			}
			parallel(reads...)
		}
		var outer sync.WaitGroup
		for range 6 {
			outer.Go(inner)
		}
		outer.Wait()
		assert.EqualValues(t, atOnce, most.Load())
		assert.EqualValues(t, 24, c.requests.Load())

		began := time.Now()
		assert.Error(t, c.attempt(t.Context(), func(context.Context) error {
			return &api.StatusError{Status: api.Status{Code: http.StatusTooManyRequests}, RetryAfter: time.Hour}
		}))
		assert.Equal(t, requestTimeout, time.Since(began), "a busy server cannot hold the examination up for an hour")
	})
}

// Of many objects those are kept that block: with a finalizer, then younger than the deletion,
// wherever they are in the list.
func TestKeeper(t *testing.T) {
	deleted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	k := keeper{deleted: deleted}
	for i := range 3 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("old-%d", i), Created: deleted.Add(-time.Hour)})
	}
	for i := range 2 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("young-%d", i), Created: deleted.Add(time.Minute)})
	}
	k.add(why.Object{Name: "held", Created: deleted.Add(-time.Hour), Finalizers: []string{"example.com/x"}})
	kept := k.objects()
	require.Len(t, kept, why.MaxKept)
	assert.Equal(t, "held", kept[0].Name)
	kept = k.objects()
	assert.False(t, slices.ContainsFunc(kept[1:], func(o why.Object) bool { return !o.Created.After(deleted) }))
}

// What a controller writes to the status of an object is no change of it.
func TestLastWrite(t *testing.T) {
	var fields api.ManagedFields
	require.NoError(t,
		json.Unmarshal([]byte(`[{"manager":"a","time":"2026-01-02T03:04:05Z"},{"manager":"b","time":"2026-01-02T03:04:09Z","subresource":"status"},
		{"manager":"c"},{"manager":"d","time":"2026-01-02T03:04:07Z"},
		{"manager":"e","time":"2026-01-02T03:04:06Z"}]`), &fields))
	at := time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)
	assert.Equal(t, at, lastWrite(fields, false))
	assert.Equal(t, at.Add(2*time.Second), lastWrite(fields, true))
	assert.Zero(t, lastWrite(api.ManagedFields{}, true))
}

// What is read of an object, by the names that its fields have in the API.
func TestFields(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const condition = `"status":"False","reason":"R","lastTransitionTime":"2026-01-02T03:04:05Z"}]`
	assert.Equal(t, []why.APIService{{
		Name: "v1.g.io", GroupVersion: "g.io/v1",
		Service:   &why.Service{Namespace: "n", Name: "s"},
		Available: "False", Reason: "R", Since: at,
	}}, apiServiceOf(nil, decoded[object](t, `{"metadata":{"name":"v1.g.io"},
		"spec":{"group":"g.io","version":"v1","service":{"namespace":"n","name":"s"}},
		"status":{"conditions":[{"type":"Available",`+condition+`}}`)))
	assert.Equal(t, []why.Node{{Name: "n", Ready: "False", Since: at}}, nodeOf(nil, decoded[object](t,
		`{"metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready",`+condition+`}}`)))
	for conversion, converter := range map[string]why.ClientConfig{
		`"Webhook","webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}}}`: {
			Service: &why.Service{Namespace: "n", Name: "s"}},
		`"Webhook","webhook":{"clientConfig":{"url":"https://10.0.0.2/"}}`:           {URL: "https://10.0.0.2/"},
		`"None","webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}}}`: {},
	} {
		got := definitionOf(nil, decoded[object](t, `{`+strings.Replace(writtenAt, `""`, `"x.g.io"`, 1)+`,
			"spec":{"conversion":{"strategy":`+conversion+`}}}`))[0]
		assert.Equal(t, []any{"x.g.io", converter}, []any{got.Type, got.Converter})
	}
}

// The selectors of a policy, and the policy of a binding.
func TestFieldsOfPolicies(t *testing.T) {
	for spec, want := range map[string]why.Policy{
		`{"validations":[{"expression":"true"}]}`:    {},
		`{"policyName":"p","paramRef":{"name":"q"}}`: {Of: "p", Binding: true},
		`{"matchConstraints":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}`: {
			NamespaceOnly: why.Selector{Labels: map[string]string{"a": "b"}}},
		`{"matchConstraints":{"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`: {
			NamespaceOnly: why.Selector{Expressions: []why.Expression{{Key: "a", Operator: "Exists"}}},
		},
	} {
		want.Changed = written
		assert.Equal(t, want, policyOf(nil, decoded[object](t, `{`+writtenAt+`,"spec":`+spec+`}`))[0], spec)
	}
}

// A server without admission policies has none. Without the right to list them they are unknown.
func TestPoliciesOfAServer(t *testing.T) {
	for code, known := range map[int]bool{0: true, 404: true, 403: false, 500: false} {
		c := newCollector(serving(t, func(*http.Request) answer { return answer{code: code} }), "shop", Options{})
		c.policies(t.Context())
		assert.Equal(t, known, c.evidence.Policies.Known(), "policies are known after an answer %d", code)
		c.grants(t.Context(), nil)
		assert.Equal(t, code == 0, c.evidence.Grants.Known(), "rights are known after an answer %d", code)
	}
}

// written is when an object was last written, which shows whether the controller has met it as it
// is.
var written = time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)

const writtenAt = `"metadata":{"name":"","managedFields":[{"manager":"m","time":"2026-01-02T03:05:00Z"}]}`

// Both kinds of configurations are read. A webhook is narrowed by its objectSelector or by
// matchConditions.
func TestFieldsOfWebhooks(t *testing.T) {
	c, _ := asking(t, listOf(`{`+writtenAt+`,"webhooks":[
		{"name":"w","clientConfig":{"service":{"namespace":"n","name":"s"}},
			"rules":[{"operations":["*"],"apiGroups":["g"],"resources":["r"]}],
			"namespaceSelector":{"matchLabels":{"a":"b"}}},
		{"name":"url","failurePolicy":"Ignore","clientConfig":{"url":"https://10.0.0.1/"},"objectSelector":{}},
		{"name":"labels","objectSelector":{"matchLabels":{"a":"b"}}},
		{"name":"conditions","matchConditions":[{"name":"x","expression":"true"}]}]}`))
	c.webhooks(t.Context())
	var want []why.Webhook
	for _, resource := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		for _, w := range []why.Webhook{{
			Name: "w", FailurePolicy: "Fail",
			ClientConfig:  why.ClientConfig{Service: &why.Service{Namespace: "n", Name: "s"}},
			NamespaceOnly: why.Selector{Labels: map[string]string{"a": "b"}},
			Rules:         []why.Rule{{Operations: []string{"*"}, Groups: []string{"g"}, Resources: []string{"r"}}},
		},
			{Name: "url", FailurePolicy: "Ignore", ClientConfig: why.ClientConfig{URL: "https://10.0.0.1/"}},
			{Name: "labels", FailurePolicy: "Fail", Narrowed: true},
			{Name: "conditions", FailurePolicy: "Fail", Narrowed: true},
		} {
			w.Resource, w.Changed = resource, written
			want = append(want, w)
		}
	}
	assert.Equal(t, want, c.evidence.Webhooks.Items)
}

// Who may update held types, by roles and their bindings.
func TestGranted(t *testing.T) {
	roleOf := func(namespace, group string, verbs string) string {
		return `{"metadata":{"name":"r","namespace":"` + namespace + `"},"rules":[{"apiGroups":["` + group +
			`"],"resources":["x"],"verbs":[` + verbs + `]}]}`
	}
	binding := func(namespace, kind, subjects string) string {
		return `{"metadata":{"name":"b","namespace":"` + namespace + `"},"roleRef":{"kind":"` + kind +
			`","name":"r"},"subjects":[` + subjects + `]}`
	}
	const a = `{"kind":"ServiceAccount","namespace":"ops","name":"a"}`
	updates := roleOf("", "keda.sh", `"get","update"`)
	for name, test := range map[string]struct {
		objects []string
		want    []string // ACCOUNT GROUP/RESOURCE
	}{
		"of each service account; another subject has none": {
			[]string{updates, binding("shop", "ClusterRole", a+`,{"kind":"ServiceAccount","name":"b"},
				{"kind":"Group","name":"system:serviceaccounts"},{"kind":"User","name":"jane"}`)},
			[]string{"ops/a keda.sh/x", "shop/b keda.sh/x", "/ keda.sh/x", "/ keda.sh/x"},
		},
		"of all namespaces, which shows who may be the owner": {
			[]string{updates, roleOf("", "*", `"*"`), roleOf("", "apps", `"*"`), binding("", "ClusterRole", a),
				binding("team-b", "ClusterRole", a)},
			[]string{"ops/a keda.sh/x", "ops/a apps/x", "ops/a keda.sh/x", "ops/a apps/x"},
		},
		"to read and to delete": {[]string{roleOf("", "keda.sh", `"get","delete"`),
			binding("", "ClusterRole", a)}, nil},
		"to update another type": {[]string{roleOf("", "other.io", `"update"`),
			binding("", "ClusterRole", a)}, nil},
		"a Role of the namespace": {[]string{roleOf("shop", "keda.sh", `"patch"`),
			binding("shop", "Role", a)}, []string{"ops/a keda.sh/x"}},
		"a Role of another namespace": {[]string{roleOf("team-b", "keda.sh", `"patch"`),
			binding("shop", "Role", a)}, nil},
		"a ClusterRole of the Role's name": {[]string{updates, binding("shop", "Role", a)}, nil},
	} {
		var roles []*object
		for _, text := range test.objects {
			roles = append(roles, decoded[object](t, text))
		}
		var got []string
		for _, g := range granted(roles, []string{"keda.sh", "apps"}) {
			got = append(got, g.Service.String()+" "+g.Group+"/"+g.Resources[0])
		}
		assert.Equal(t, test.want, got, name)
	}
	c, _ := asking(t, listOf(updates, binding("shop", "ClusterRole", a)))
	c.grants(t.Context(), []why.Held{scaled})
	assert.NotEmpty(t, c.evidence.Grants.Items, "the rights to update the types of the held objects are kept")
}

// scaled is a held object of KEDA.
var scaled = why.Held{Type: &why.Type{Group: "keda.sh", Resource: "scaledobjects"}, Finalizer: "finalizer.keda.sh"}

// Of the pods only those are kept that may be the owner.
func TestWhichWorkloadsAreKept(t *testing.T) {
	c, requests := asking(t, headsOf("keda-operator-1", "shop"))
	c.workloads(t.Context(), []why.Held{scaled})
	assert.Len(t, c.evidence.Workloads.Items, 3*2+1, "all of three kinds, and one of the pods")
	assert.ElementsMatch(t, *requests, []string{"GET /apis/apps/v1/deployments ", "GET /apis/apps/v1/statefulsets ",
		"GET /apis/apps/v1/daemonsets ", "GET /api/v1/pods "})
}

// The controller's conditions and tokens are no change of the namespace.
func TestWhenANamespaceWasChanged(t *testing.T) {
	var n api.Namespace
	require.NoError(t, json.Unmarshal([]byte(`{"metadata":{"managedFields":[
		{"manager":"kubectl-label","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}}},
		{"manager":"kubectl-create","time":"2026-01-02T03:04:01Z","fieldsV1":{"f:metadata":{"f:labels":{"f:b":{}}}}},
		{"manager":"kube-controller-manager","time":"2026-01-02T03:04:08Z","subresource":"status","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"NamespaceContentRemaining\"}":{}}}}},
		{"manager":"other","time":"2026-01-02T03:04:09Z","subresource":"status","fieldsV1":{"f:status":{"f:phase":{}}}}]}}`), &n))
	head := headOf(&n, "GET namespace")
	assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), head.Changed)
	assert.Equal(t, []why.Writer{{Manager: "kube-controller-manager", At: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)}},
		head.Writers)
}

// decoded returns an object as a list decodes it.
func decoded[T any](t *testing.T, text string) *T {
	t.Helper()
	var object T
	require.NoError(t, api.Unmarshal([]byte(text), &object), text)
	return &object
}

// workloadIn returns the workload of a kind that a document has.
func workloadIn(t *testing.T, kind, text string) why.Workload {
	t.Helper()
	kept := workloadOf(kind)(nil, decoded[object](t, text))
	require.Len(t, kept, 1)
	return kept[0]
}

func TestWorkloads(t *testing.T) {
	const created = `"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"},`
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	since := at.Add(time.Hour)
	condition := func(of string) string {
		return `{` + created + `"status":{"conditions":[{"type":"` + of +
			`","status":"False","lastTransitionTime":"2026-01-02T04:04:05Z"}]}}`
	}
	stopped := func(replicas, subresource string) string {
		return `{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[
		{"manager":"kubectl-create","time":"2026-01-02T03:04:05Z"},
			{"manager":"m","subresource":"` + subresource + `","time":"2026-01-02T04:04:05Z"}]},
		"spec":{"replicas":` + replicas + `}}`
	}
	for name, test := range map[string]struct {
		kind, text string
		want       why.Workload
	}{
		"a pod is a sign of life if a container runs; its programs are also in its command lines": {
			"pod", `{"metadata":{"namespace":"ops","name":"cd-1"},
				"spec":{"serviceAccountName":"cd","containers":[{"name":"main",
				"image":"reg.corp:5000/platform/cd:2.11@sha256:1f","command":["sh","-c","exec /manager --leader-elect"],
				"args":["/usr/bin/argocd-application-controller","--shard=1","LOG=debug"]}]},
				"status":{"phase":"Running","containerStatuses":[{"state":{"running":{}}}]}}`,
			why.Workload{
				Namespace: "ops", Name: "cd-1", Replicas: 1, Ready: 1, ServiceAccount: "cd",
				Words: []string{"main", "cd", "sh", "exec", "manager", "argocd-application-controller"},
			},
		},
		"a pod that crashes again and again": {"pod", `{"status":{"containerStatuses":[{"state":{"waiting":{}}}]}}`,
			why.Workload{Replicas: 1}},
		"an image with a digest only": {
			"pod", `{"spec":{"containers":[{"name":"main","image":"reg.corp/platform/cd@sha256:1f"}]}}`,
			why.Workload{Replicas: 1, Words: []string{"main", "cd"}},
		},
		"a Deployment without replicas": {"deployment", `{"spec":{"replicas":0}}`, why.Workload{}},
		"a Deployment has one replica":  {"deployment", `{}`, why.Workload{Replicas: 1}},
		"a Deployment with its account": {
			"deployment", `{"spec":{"replicas":2,"template":{"spec":{"serviceAccountName":"a"}}},
				"status":{"readyReplicas":1}}`,
			why.Workload{Replicas: 2, Ready: 1, ServiceAccount: "a"},
		},
		"a DaemonSet": {"daemonset", `{"status":{"desiredNumberScheduled":3,"numberReady":2}}`,
			why.Workload{Replicas: 3, Ready: 2}},
		"a Deployment is down since its condition": {"deployment", condition("Available"),
			why.Workload{Replicas: 1, Since: since}},
		"a pod is down since its condition": {"pod", condition("Ready"),
			why.Workload{Replicas: 1, Since: since}},
		"another condition": {"statefulset", condition("Other"),
			why.Workload{Replicas: 1, Since: at}},
		"a Deployment is stopped since its last write": {"deployment", stopped("0", "scale"),
			why.Workload{Since: since}},
		"kubectl scale leaves only the status": {"deployment", stopped("0", "status"),
			why.Workload{Since: since}},
		"the last write of one that is not stopped": {"deployment", stopped("1", "scale"),
			why.Workload{Replicas: 1, Since: at}},
	} {
		test.want.Kind = test.kind
		assert.Equal(t, test.want, workloadIn(t, test.kind, test.text), name)
	}
}

// A pod counts while it runs, or if it is going to.
func TestPodsThatMayRun(t *testing.T) {
	const deleted = `,"deletionTimestamp":"2026-01-02T03:04:05Z"`
	for text, kept := range map[string]bool{
		`{"metadata":{"name":"p"},"status":{"phase":"Pending"}}`:   true,
		`{"metadata":{"name":"p"},"status":{"phase":"Running"}}`:   true,
		`{"metadata":{"name":"p"},"status":{"phase":"Succeeded"}}`: false,
		`{"metadata":{"name":"p"},"status":{"phase":"Failed"}}`:    false,
		`{"metadata":{"name":"p"` + deleted +
			`},"status":{"phase":"Pending"}}`: false,
		`{"metadata":{"name":"p"` + deleted +
			`},"status":{"phase":"Running"}}`: false,
		`{"metadata":{"name":"p"` + deleted +
			`},"status":{"phase":"Running","containerStatuses":[{"state":{"running":{}}}]}}`: true,
	} {
		assert.Equal(t, kept, len(workloadOf(why.PodKind)(nil, decoded[object](t, text))) == 1, text)
	}
}

// The value of a flag is no program.
func TestTheWordsOfACommandLine(t *testing.T) {
	assert.Equal(t, []string{"watch", "b"}, programsOf([]string{"watch", "--target", "watched-operator",
		"--deep=true", "b"}))
	assert.Equal(t, []string{"sh", "exec", "x"}, programsOf([]string{"sh", "-c", "exec /bin/x -v 3"}))
}

// A container of any sort may run on. A pod uses the claims of its volumes, also those of generic
// ephemeral ones.
func TestPods(t *testing.T) {
	item := decoded[object](t, `{"metadata":{"name":"p"},
		"spec":{"nodeName":"n","serviceAccountName":"a",
		"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"data"}},
		{"name":"scratch","ephemeral":{"volumeClaimTemplate":{}}},{"name":"e","emptyDir":{}}]},
		"status":{"initContainerStatuses":[{"name":"init","state":{"running":{}}}],
		"containerStatuses":[{"name":"main","state":{"waiting":{}}}],
		"ephemeralContainerStatuses":[{"name":"debug","state":{"running":{}}}]}}`)
	assert.Equal(t, why.Pod{
		Node: "n", Running: []string{"init", "debug"}, Claims: []string{"data",
			"p-scratch"},
	}, podOf(item, why.Object{}))
}

// The value of --controllers may stand behind it, too, and several add up. Another container of the
// pod may have a flag of that name.
func TestManagers(t *testing.T) {
	for containers, controllers := range map[string]string{
		`{"command":["kube-controller-manager","--controllers","*"],
			"args":["--controllers=-ttl","--profiling"]}`: "*,-ttl",
		`{"name":"kube-controller-manager","command":["/manager"],"args":["--controllers=*"]},
			{"name":"cloud","args":["--controllers=cloud-node,route"]}`: "*",
		`{"command":["kube-controller-manager","--controllers=*,-ttl"]},
			{"name":"kube-controller-manager-logs"}`: "*,-ttl",
	} {
		text := `"spec":{"containers":[` + containers + `]},"status":{"conditions":[{"type":"Ready","status":"True"}],
			"containerStatuses":[{"state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}}}]}}`
		assert.Equal(t, []why.Manager{{
			Name: "m", Ready: true, Controllers: controllers,
		}}, managerOf(nil, decoded[object](t, `{"metadata":{"name":"m"},`+text)))
		assert.Empty(t, managerOf(nil,
			decoded[object](t, `{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"},`+text)))
	}
}

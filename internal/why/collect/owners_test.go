package collect

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

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

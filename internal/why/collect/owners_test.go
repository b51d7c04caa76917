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
		want    []string // ACCOUNT GROUP/RESOURCE in NAMESPACE
	}{
		"groups of service accounts are those of pods; another group is one of users": {
			[]string{updates, binding("shop", "ClusterRole", `{"kind":"Group","name":"system:serviceaccounts"},
			{"kind":"Group","name":"system:serviceaccounts:ops"},
				{"kind":"Group","name":"system:authenticated"},{"kind":"Group","name":"system:masters"},
			{"kind":"ServiceAccount","name":"a"},
				{"kind":"User","name":"jane"},{"kind":"User","name":"system:serviceaccount:ops:b"}`)},
			[]string{
				"group system:serviceaccounts */* keda.sh/x in ",
				"group system:serviceaccounts:ops ops/* keda.sh/x in ",
				"group system:authenticated */* keda.sh/x in ", "group system:masters / keda.sh/x in ",
				"serviceaccount a shop/a keda.sh/x in ",
				"user jane / keda.sh/x in ", "user system:serviceaccount:ops:b ops/b keda.sh/x in ",
			},
		},
		"of other namespaces, which shows who may be the owner of a custom type": {
			[]string{updates, roleOf("", "*", `"*"`), roleOf("", "apps", `"*"`), binding("", "ClusterRole", a),
				binding("shop", "ClusterRole", a), binding("team-b", "ClusterRole", a)},
			[]string{
				"serviceaccount a ops/a keda.sh/x in ", "serviceaccount a ops/a apps/x in ",
				"serviceaccount a ops/a keda.sh/x in ", "serviceaccount a ops/a apps/x in ",
				"serviceaccount a ops/a keda.sh/x in team-b",
			},
		},
		"to read and to delete": {[]string{roleOf("", "keda.sh", `"get","delete"`),
			binding("", "ClusterRole", a)}, nil},
		"to update another type": {[]string{roleOf("", "other.io", `"update"`),
			binding("", "ClusterRole", a)}, nil},
		"a Role of the namespace": {[]string{roleOf("shop", "keda.sh", `"patch"`),
			binding("shop", "Role", a)}, []string{"serviceaccount a ops/a keda.sh/x in "}},
		"a Role of another namespace": {[]string{roleOf("team-b", "keda.sh", `"patch"`),
			binding("shop", "Role", a)}, nil},
		"a ClusterRole of the Role's name": {[]string{updates, binding("shop", "Role", a)}, nil},
	} {
		var roles []*role
		for _, text := range test.objects {
			roles = append(roles, decoded[role](t, text))
		}
		var got []string
		for _, g := range granted(roles, []string{"keda.sh", "apps"}, "shop") {
			got = append(got, g.Subject+" "+g.Account()+" "+g.Group+"/"+g.Resources[0]+" in "+g.Elsewhere)
		}
		assert.Equal(t, test.want, got, name)
	}
}

// Every manager that has the finalizer among its fields has set it. The status of another type may
// be anything.
func TestStamps(t *testing.T) {
	entry := func(manager, finalizer string) string {
		return `{"manager":"` + manager + `","time":"2026-01-02T03:04:05Z",
			"fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"` + finalizer + `\"":{}}}}}`
	}
	fields := `{"metadata":{"managedFields":[` + entry("a", "example.com/x") + `,` + entry("b", "example.com/y") +
		`,` + entry("c", "example.com/x") + `]},"status":`
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for status, balancer := range map[string]bool{
		`{"loadBalancer":{"ingress":[]}}`: true, `{"loadBalancer":{}}`: false, `{"loadBalancer":"x"}`: false,
		`"Ready"`: false, `null`: false,
	} {
		stamp := why.Stamp{Finalizer: "example.com/x"}
		decoded[stamped](t, fields+status+"}").stamp(&stamp)
		assert.Equal(t, []why.Writer{{Manager: "a", At: at}, {Manager: "c", At: at}}, stamp.Writers)
		assert.Equal(t, balancer, stamp.Balancer, status)
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
	assert.Equal(t, []why.Writer{{Manager: "kube-controller-manager", At: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)}}, head.Writers)
}

// Running pods count for their service accounts. In the evidence are those only that may be an
// owner.
func TestPodsOfServiceAccounts(t *testing.T) {
	c, _ := asking(t, `{}`)
	e := &c.evidence
	pod := func(namespace, name, account string) why.Workload {
		return why.Workload{Kind: why.PodKind, Namespace: namespace, Name: name, ServiceAccount: account, Ready: 1}
	}
	crashing := pod("keda", "crashing", "keda")
	crashing.Ready, crashing.Replicas, e.At = 0, 1, time.Now()
	scaled := why.Type{Group: "keda.sh", Version: "v1", Resource: "scaledobjects"}
	held := []why.Held{{Type: &scaled, Finalizer: "finalizer.keda.sh"}}
	e.Workloads.Items = []why.Workload{
		{Kind: "deployment", Namespace: "web", Name: "shop", Ready: 2}, pod("keda", "keda-operator-1", "keda"), pod("keda", "x", "keda"), crashing,
		pod("keda", "y", ""), pod("other", "z", "keda"),
	}
	e.Grants.Items = []why.Grant{
		{Service: why.Service{Namespace: "keda", Name: "keda"}, Group: "keda.sh"}, {Service: why.Service{Namespace: "keda", Name: "default"}, Group: "keda.sh"},
		{Service: why.Service{Namespace: "keda", Name: "gone"}, Group: "keda.sh"}, {Subject: "user admin"},
		{Service: why.Service{Namespace: "keda", Name: "gone"}, Group: "apps"},
		{Service: why.Service{Namespace: "other", Name: "keda"}, Group: "apps"},
		{Service: why.Service{Namespace: "keda", Name: "*"}}, {Service: why.Service{Namespace: "*", Name: "*"}, Group: "apps"},
	}
	c.pods(held)
	var pods []int
	for _, g := range e.Grants.Items {
		pods = append(pods, g.Pods)
	}
	assert.Equal(t, []int{2, 1, 0, 0, 1, 3, 4}, pods, "of the rights to built-in types those without a pod go")
	var names []string
	for _, w := range e.Workloads.Items {
		names = append(names, w.Name)
	}
	assert.Equal(t, []string{"shop", "keda-operator-1"}, names)

	e.Workloads = why.Answer[why.Workload]{Failed: &why.Failure{Code: 403}}
	c.pods(held)
	assert.Equal(t, 403, e.Grants.Items[0].Failed.Code, "an account without a pod that is seen may have some")
	assert.Nil(t, e.Grants.Items[3].Failed)
}

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
		var roles []*role
		for _, text := range test.objects {
			roles = append(roles, decoded[role](t, text))
		}
		var got []string
		for _, g := range granted(roles, []string{"keda.sh", "apps"}) {
			got = append(got, g.Service.String()+" "+g.Group+"/"+g.Resources[0])
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
	assert.Equal(t, []why.Writer{{Manager: "kube-controller-manager", At: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)}},
		head.Writers)
}

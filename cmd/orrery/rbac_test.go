package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/rbac"
	"orrery/restclient/api"
)

// The manifests in deploy are the program's own output.
func TestDeployHasTheRightsThatTheProgramSays(t *testing.T) {
	overlay, err := os.ReadFile(filepath.Join("..", "..", "examples", "deploy", "kustomization.yaml"))
	require.NoError(t, err)
	_, controllers, found := strings.Cut(string(overlay), "value: ")
	require.True(t, found)
	for file, args := range map[string][]string{
		"deploy/rbac.yaml":          nil,
		"examples/deploy/rbac.yaml": {strings.TrimSpace(controllers)},
	} {
		code, stdout, stderr := orrery(t, append([]string{"rbac"}, args...)...)
		require.Zero(t, code, stderr)
		manifest, err := os.ReadFile(filepath.Join("..", "..", file))
		require.NoError(t, err)
		assert.Equal(t, string(manifest), stdout, "%s is out of date: make manifests writes it", file)
	}
}

func TestRBACFlags(t *testing.T) {
	comments := regexp.MustCompile(`(?m)^\s*# .*\n`)
	_, everything, _ := orrery(t, "rbac")
	tests := []struct {
		args    []string
		has     []string
		without []string
	}{
		{nil, []string{"kind: ServiceAccount", "namespace: kube-system", "leases", "deletecollection",
			"namespace: default"}, []string{"kind: User"}},
		{[]string{"--user", "jane"}, []string{"kind: User", "name: jane", "name: orrery-jane\n"},
			[]string{"kind: ServiceAccount", "\n  name: orrery\n"}},
		{[]string{"--user", "https://issuer/x%y"}, []string{"name: orrery-https:--issuer-x-y\n"}, nil},
		{[]string{"--service-account", "tools/janitor"}, []string{"name: janitor", "namespace: tools",
			"name: orrery-tools-janitor-leader-election\n"}, []string{"\n  name: orrery\n"}},
		{[]string{"--dry-run"}, []string{"verbs: [list]", "name: orrery-dry-run\n"},
			[]string{"update", "create", "delete", "leases"}},
		{[]string{"--leader-elect=false"}, []string{"events"},
			[]string{"leases", "kind: Role\nmetadata:\n  name: orrery-leader-election"}},
		{[]string{"--events=false"}, []string{"leases"}, []string{"events"}},
		{[]string{"--leader-elect-resource-name", "mine", "--leader-elect-resource-namespace", "there"},
			[]string{"resourceNames: [mine]", "namespace: there"}, nil},
		{[]string{"--controllers", "replicaset"}, []string{"replicasets/status",
			"Events in the namespace of their object"}, []string{"namespaces", "deletecollection", "orrery-events"}},
		{[]string{"--controllers", "*,replicaset"}, []string{"replicasets/status", "deletecollection"},
			[]string{"deployments"}},
		{[]string{"--for", "why", "--user", "jane"}, []string{"name: orrery-why-jane", "subjectaccessreviews"},
			[]string{"leases", "delete"}},
		{[]string{"--for", "why", "--without", "secrets", "--group", "example.com,keda.sh"},
			[]string{"configmaps", "example.com", "keda.sh", "subjectaccessreviews", "admissionregistration.k8s.io"},
			[]string{"secrets", "apiGroups: ['*']"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, stdout, stderr := orrery(t, append([]string{"rbac"}, test.args...)...)
			require.Zero(t, code, stderr)
			for _, part := range test.has {
				assert.Contains(t, stdout, part)
			}
			for _, part := range test.without {
				assert.NotContains(t, comments.ReplaceAllString(stdout, ""), part)
			}
			assert.Equal(t, len(test.args) == 0, stdout == everything)
		})
	}
}

// A run without the right to delete began without a message and looked as if it worked.
func TestARunSaysWhichRightsItLacks(t *testing.T) {
	r := startReplica(t, builtIn(t, "forbid:verb=delete|deletecollection", "forbid:verb=create|patch,resource=events"),
		"--controllers=*,replicaset")
	r.await("controller started")
	r.end()
	said := r.stderr.String()
	assert.Equal(t, 1, strings.Count(said, "this user lacks rights"), said)
	assert.Contains(t, said,
		`missing="delete, deletecollection everything (namespace-controller, replicaset-controller); create, patch events (Events); `)
	assert.Contains(t, said, "WARN")

	r = startReplica(t, builtIn(t))
	r.await("controller started")
	r.end()
	assert.NotContains(t, r.stderr.String(), "lacks rights")
}

func TestRightsInASentence(t *testing.T) {
	watch := rbac.RightTo(api.NamespacesResource, "", "", "get", "watch")
	update := rbac.RightTo(api.LeasesResource, "status", "", "update")
	named := rbac.RightTo(api.LeasesResource, "", "", "get")
	named.Namespace, named.Rule.ResourceNames = "kube-system", []string{"orrery"}
	for want, right := range map[string]rbac.Right{
		"get, watch namespaces (a, b)":                                watch,
		"update leases.coordination.k8s.io/status (a, b)":             update,
		"get leases.coordination.k8s.io orrery in kube-system (a, b)": named,
	} {
		right.For = []string{"b", "a", "b"}
		assert.Equal(t, want, inSentence(right))
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	_, everything, _ := orrery(t, "rbac")
	tests := []struct {
		args    []string
		has     []string
		without []string
	}{
		{nil, []string{"kind: ServiceAccount", "namespace: kube-system", "leases", "deletecollection", "namespace: default"}, []string{"kind: User"}},
		{[]string{"--user", "jane"}, []string{"kind: User", "name: jane", "name: orrery-jane\n"}, []string{"kind: ServiceAccount", "\n  name: orrery\n"}},
		{[]string{"--user", "https://issuer/x%y"}, []string{"name: orrery-https:--issuer-x-y\n"}, nil},
		{[]string{"--service-account", "tools/janitor"}, []string{"name: janitor", "namespace: tools", "name: orrery-tools-janitor-leader-election\n"}, []string{"\n  name: orrery\n"}},
		{[]string{"--dry-run", "--user", "jane", "--name", "mine"}, []string{"name: mine\n"}, []string{"orrery-"}},
		{[]string{"--dry-run"}, []string{"verbs: [list]", "name: orrery-dry-run\n"}, []string{"update", "create", "delete", "leases"}},
		{[]string{"--leader-elect=false"}, []string{"events"}, []string{"leases", "kind: Role\nmetadata:\n  name: orrery-leader-election"}},
		{[]string{"--events=false"}, []string{"leases"}, []string{"events"}},
		{[]string{"--leader-elect-resource-name", "mine", "--leader-elect-resource-namespace", "there"}, []string{"resourceNames: [mine]", "namespace: there"}, nil},
		{[]string{"--controllers", "virtualmachine"}, []string{"virtualmachines/status", "Events in the namespace of their object"}, []string{"namespaces", "deletecollection", "orrery-events"}},
		{[]string{"--controllers", "*,replicaset"}, []string{"replicasets/status", "deletecollection"}, []string{"virtualmachines"}},
		{[]string{"-o", "json"}, []string{`"kind": "List"`}, nil},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, stdout, stderr := orrery(t, append([]string{"rbac"}, test.args...)...)
			require.Zero(t, code, stderr)
			for _, part := range test.has {
				assert.Contains(t, stdout, part)
			}
			for _, part := range test.without {
				assert.NotContains(t, withoutComments(stdout), part)
			}
			assert.Equal(t, len(test.args) == 0, stdout == everything)
		})
	}
}

func withoutComments(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "# ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

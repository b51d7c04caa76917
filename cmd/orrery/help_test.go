package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/program/programtest"
)

func TestHelp(t *testing.T) { programtest.TestHelp(t, newRootCommand) }

// The program accepts every command in the documentation.
func TestTheDocumentationsCommandsParse(t *testing.T) {
	found := programtest.TestDocumentation(t, newRootCommand, "../..")
	for file, least := range map[string]int{"README.md": 5, "running.md": 11, "observing.md": 6, "stuck-namespaces.md": 2} {
		assert.GreaterOrEqual(t, found[file], least, file)
	}
}

func TestValuesAreCompleted(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","contexts":[{"name":"staging","context":{}},{"name":"live","context":{}}]}`), 0o600))
	tests := []struct {
		words []string
		want  []string
	}{
		{[]string{"run", "--controllers", ""}, []string{"*", "deployment-controller", "garbage-collector-controller", "namespace-controller", "-namespace-controller", "replicaset-controller", "second-party-controller", "virtualmachine"}},
		{[]string{"run", "--watch-transport", ""}, []string{"http", "websocket"}},
		{[]string{"run", "--log-format", "j"}, []string{"text", "json"}}, // the shell chooses
		{[]string{"run", "--kubeconfig", kubeconfig, "--context", ""}, []string{"live", "staging"}},
		{[]string{"run", "--kubeconfig", "/does/not/exist", "--context", ""}, []string{}},
		{[]string{"run", "--namespace-sync-period", ""}, []string{}},
		{[]string{"run", "--gears", "fast,queue="}, []string{"fast,queue=textbook"}},
		{[]string{"run", "--gears", "queue=textbook,delta"}, []string{"queue=textbook,deltafifo=textbook", "queue=textbook,deltafifo=inorder"}},
		{[]string{"run", "--gears=textbook,queue="}, []string{"textbook,queue=fast"}},
		{[]string{"rbac", "-o", ""}, []string{"yaml", "json"}},
		{[]string{"ver"}, []string{"version"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.words, " "), func(t *testing.T) {
			assert.Equal(t, test.want, programtest.Complete(t, newRootCommand(), test.words...))
		})
	}
}

func TestContextsAreThoseOfKubectl(t *testing.T) {
	one, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for file, name := range map[string]string{one: "x", other: "y"} {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","contexts":[{"name":%q,"context":{}}]}`, name), 0o600))
	}
	t.Setenv("KUBECONFIG", one+string(filepath.ListSeparator)+other)
	assert.Equal(t, []string{"x", "y"}, programtest.Complete(t, newRootCommand(), "run", "--context", ""))

	home := t.TempDir()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", home)
	require.NoError(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	data, err := os.ReadFile(one)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, ".kube", "config"), data, 0o600))
	assert.Equal(t, []string{"x"}, programtest.Complete(t, newRootCommand(), "run", "--context", ""))
}

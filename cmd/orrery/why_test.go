package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/why"
)

// stuck is the evidence of a namespace with a foreign token.
func stuck() why.Evidence {
	deleted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := why.Evidence{Name: "shop", At: deleted.Add(time.Hour), Namespace: &why.Namespace{
		UID: "u", ResourceVersion: "7", Deleted: deleted, SpecFinalizers: []string{"example.com/x"},
		Request: "GET /api/v1/namespaces/shop",
	}}
	e.Second = &why.Sample{At: e.At.Add(10 * time.Second), Namespace: e.Namespace}
	return e
}

func TestWhyFromSavedEvidence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.json")
	require.NoError(t, stuck().Save(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	code, table, stderr := orrery(t, "why", "--from", path)
	assert.Equal(t, why.ExitStuck, code)
	assert.Empty(t, stderr)
	assert.Contains(t, table, "\n--fix prints the commands for these objects\n")
	assert.Contains(t, table, "Namespace shop has been terminating for 1h: spec.finalizers has the token "+
		"example.com/x, which its owner has not removed.\n\nC18  ")
	for line := range strings.Lines(table) {
		oneLine := slices.ContainsFunc([]string{"Namespace ", "stuck; "},
			func(begins string) bool { return strings.HasPrefix(line, begins) })
		assert.True(t, oneLine || len([]rune(line)) <= 101, line)
	}
	// The commands act on the cluster that was chosen, and on no other one.
	_, chosen, _ := orrery(t, "why", "--from", path, "--context", "the shop's", "--kubeconfig", "prod.yaml", "--fix")
	const flags = `--context 'the shop'\''s' --kubeconfig prod.yaml`
	assert.Contains(t, chosen, "kubectl "+flags+" get namespace shop -o json")
	assert.Contains(t, chosen, "| kubectl "+flags+" replace --raw")
	assert.NotContains(t, chosen, "default cluster")
	_, chosen, _ = orrery(t, "why", "--from", path, "--fix")
	assert.Contains(t, chosen, "Without --context, these commands act on your default cluster.")
	_, wide, _ := orrery(t, "why", "--from", path, "-o", "wide")
	assert.Contains(t, wide, "[sample 1: GET /api/v1/namespaces/shop]")
	_, document, _ := orrery(t, "why", "--from", path, "-o", "json")
	var report why.Report
	require.NoError(t, json.Unmarshal([]byte(document), &report))
	assert.Equal(t, why.Stuck, report.Verdict)
	assert.Equal(t, "C18", report.Findings[0].ID)
}

func TestExplain(t *testing.T) {
	for _, id := range why.IDs() {
		code, stdout, stderr := orrery(t, "why", "--explain", strings.ToLower(id))
		assert.Zero(t, code)
		assert.True(t, strings.HasPrefix(stdout, id+"  "), stdout)
		assert.Empty(t, stderr)
	}
	_, short, _ := orrery(t, "why", "--explain", "c7")
	assert.True(t, strings.HasPrefix(short, "C07  "), short)
}

// A file with the program that has the name of a kubectl plugin is "orrery why" under that name.
func TestKubectlPlugin(t *testing.T) {
	const itself, plugins = "orrery version ", "kubectl why-terminating version "
	for path, want := range map[string]string{
		"/usr/bin/orrery":                     itself,
		"kubectl-why_terminating":             plugins,
		"/usr/bin/kubectl-why_terminating":    plugins,
		`C:\bin\kubectl-why_terminating.exe`:  plugins,
		"/kubectl-why_terminating/bin/orrery": itself,
	} {
		_, stdout, _ := programtest.Call(t, newCommand(path), explain, "--version")
		assert.True(t, strings.HasPrefix(stdout, want), "%s: %s", path, stdout)
	}
	plugin := func(args ...string) (code int, stdout, stderr string) {
		return programtest.Call(t, newPluginCommand(), explain, args...)
	}
	_, help, _ := plugin("--help")
	assert.Contains(t, help, "Usage:\n  kubectl why-terminating NAMESPACE | -A [flags]\n")
	assert.Contains(t, help, "\n  kubectl why-terminating shop --fix\n")
	assert.NotContains(t, help, "orrery why")
	for _, mistake := range [][]string{nil, {"a", "b"}, {"shop", "--nope"}} {
		code, _, stderr := plugin(mistake...)
		assert.Equal(t, why.ExitError, code)
		assert.True(t, strings.HasPrefix(stderr, "kubectl why-terminating: "), stderr)
		assert.Contains(t, stderr, `(see "kubectl why-terminating --help")`)
	}
	for _, namespace := range []string{"help", "completion", "why"} { // no commands of the plugin
		_, stdout, _ := plugin(namespace, "--kubeconfig", builtIn(t))
		assert.Contains(t, stdout, `namespace "`+namespace+`" does not exist`)
	}
	formats := programtest.Complete(t, newPluginCommand(), "shop", "-o", "")
	assert.Equal(t, []string{"text", "wide", "json"}, formats)
}

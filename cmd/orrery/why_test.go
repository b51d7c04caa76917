package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
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

const (
	ofNamespace  = "/api/v1/namespaces/shop"
	ofConfigMaps = ofNamespace + "/configmaps"
	ofDiscovery  = "/readyz"
)

// audit makes shop a terminating namespace with a finalizer of its own.
func audit(t *testing.T, client *restclient.Client) {
	t.Helper()
	do(t, client, http.MethodPost, "/api/v1/namespaces",
		`{"metadata":{"name":"shop","finalizers":["example.com/audit"]}}`)
	do(t, client, http.MethodDelete, ofNamespace, "")
}

// Answers that need a server, with their exit codes.
func TestWhyOnAServer(t *testing.T) {
	audited := func(fault string) (path string) {
		path = builtIn(t, fault)
		audit(t, clientOf(t, path))
		return path
	}
	active := builtIn(t)
	do(t, clientOf(t, active), http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	// A type that cannot be read keeps the cause unproven, however old the namespace is.
	deleted := audited("unavailable:verb=list,resource=configmaps,user=kubernetes-admin")
	blind := audited("forbid:verb=list,user=kubernetes-admin")
	refusing := audited("forbid:verb=get,resource=namespaces,user=kubernetes-admin")
	saved := filepath.Join(t.TempDir(), "shop.json")
	_, live, _ := orrery(t, "why", "shop", "--no-wait", "--kubeconfig", deleted, "--save", saved)
	_, again, _ := orrery(t, "why", "--from", saved)
	assert.Equal(t, live, again, "the evidence is saved, and says the same")
	absent := writeKubeconfig(t, "http://127.0.0.1:1", "{}")
	closed := writeKubeconfig(t, serve(t, forbidden), "{}")
	for _, test := range []struct {
		what, line, kubeconfig string
		code                   int
		stdout, stderr         string
	}{
		{"an active one", "shop", active, 0, "namespace \"shop\" is Active: its deletion was not requested\n", ""},
		{"none of that name", "nowhere", active, 1,
			"namespace \"nowhere\" does not exist; no namespace is Terminating\n", ""},
		{"a server that refuses everything", "shop", closed, 3, "cannot be read: said the server", ""},
		{"all, and none is terminating", "-A", active, 0, "no namespace is Terminating", ""},
		{"watching all, and none is terminating", "-A -w", active, 0, "no namespace is Terminating", ""},
		{"watching one that is not terminating", "shop -w", active, 0, "is Active", ""},
		{"a wrong context", "shop --context nowhere", active, 1, "", "nowhere"},
		{"no kubeconfig at all", "shop", "", 1, "", "kubeconfig"},
		{"no right to list, and all", "-A", blind, 1, "", `"orrery rbac --for why --user NAME" prints the role`},
		{"no connection, and all", "-A", absent, 1, "", "cannot be reached"},
		{"no right to get it", "--no-wait shop", refusing, 3, "C30", ""},
		{"no right to list anything", "--no-wait shop", blind, 3, "C30", ""},
		{"a type that cannot be read", "--no-wait shop", deleted, 3, "unread: configmaps", ""},
		{"all of them", "--no-wait -A", deleted, 3, "C16?", ""},
		{"the commands for all of them", "--no-wait -A --fix", deleted, 3, " describe namespaces shop\n", ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			args := append([]string{"why"}, strings.Fields(test.line)...)
			if test.kubeconfig != "" {
				args = append(args, "--kubeconfig", test.kubeconfig)
			}
			code, stdout, stderr := orrery(t, args...)
			for tries := 0; tries < 20 && strings.Contains(stderr, "did not answer in time"); tries++ {
				code, stdout, stderr = orrery(t, args...) // this machine was late
			}
			assert.Equal(t, test.code, code, stdout+stderr)
			if test.stdout == "" {
				assert.Empty(t, stdout)
			}
			assert.Contains(t, stdout, test.stdout)
			assert.Contains(t, stderr, test.stderr)
		})
	}
}

// What happens in the middle of an examination has its exit code and one plain sentence. Before the
// answer to the nth request of a path the namespace goes, or one of its name is created, too, the
// server breaks all connections from then on, or there is a Ctrl-C.
func TestInTheMiddle(t *testing.T) {
	for what, test := range map[string]struct {
		line    string
		path    string
		nth     int32
		happens string
		code    int
		stdout  string
		stderr  string
	}{
		"it goes": {"shop", ofNamespace, 2, "goes", 0, `namespace "shop" was removed while it was examined`, ""},
		"it goes, watched": {"shop -w", ofNamespace, 2, "goes", 0,
			`namespace "shop" was removed while it was examined`, ""},
		"it goes, all watched": {"-A -w", ofNamespace, 2, "goes", 0, "no namespace is Terminating", ""},
		"it is created again": {"shop", ofNamespace, 2, "is created", 0,
			`namespace "shop" was removed while it was examined`, ""},
		"it is created again, watched": {"shop -w", ofNamespace, 2, "is created", 0,
			`namespace "shop" was removed while it was examined`, ""},
		"the server ends at once": {"shop", ofNamespace, 1, "ends", 1, "", "http://127.0.0.1"},
		"the server ends in discovery": {"shop", ofDiscovery, 1, "ends", 3,
			"0 types read, unread: everything (the ", ""},
		"the server ends in a list":       {"shop", ofConfigMaps, 1, "ends", 3, "unread: configmaps", ""},
		"the server ends before sample 2": {"shop", ofNamespace, 2, "ends", 3, "the second sample failed: ", ""},
		"the server ends, all": {"-A", ofNamespace, 2, "ends", 3,
			"The examination ended early: the second sample failed: ", ""},
		"the server ends, watched":     {"shop -w", ofNamespace, 3, "ends", 1, "Namespace shop", "http://127.0.0.1"},
		"the server ends, all watched": {"-A -w", ofNamespace, 3, "ends", 1, "Namespace shop", "http://127.0.0.1"},
		"Ctrl-C":                       {"shop", ofConfigMaps, 1, "Ctrl-C", 130, "", ""},
		"Ctrl-C before it is read":     {"shop", ofNamespace, 1, "Ctrl-C", 130, "", ""},
		"Ctrl-C between the samples":   {"shop", ofNamespace, 2, "Ctrl-C", 130, "", ""},
		"Ctrl-C, all":                  {"-A", ofNamespace, 1, "Ctrl-C", 130, "", ""},
		"Ctrl-C, watched":              {"shop -w", ofNamespace, 3, "Ctrl-C", 130, "Namespace shop", ""},
		"Ctrl-C, all watched":          {"-A -w", ofNamespace, 3, "Ctrl-C", 130, "Namespace shop", ""},
		"Ctrl-C, watched with one sample": {"shop -w --no-wait", ofNamespace, 2, "Ctrl-C", 130,
			"Namespace shop", ""},
	} {
		t.Run(what, func(t *testing.T) {
			var asked atomic.Int32
			var ended atomic.Bool
			var aside *restclient.Client
			path := writeKubeconfig(t, inMemory(t, func(_ http.ResponseWriter, r *http.Request) bool {
				switch {
				case ended.Load():
					panic(http.ErrAbortHandler)
				case r.URL.Path != test.path || r.Method != http.MethodGet || asked.Add(1) != test.nth:
					return false
				}
				switch test.happens {
				case "ends":
					ended.Store(true)
					panic(http.ErrAbortHandler)
				case "Ctrl-C":
					assert.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
					<-r.Context().Done()
					return true
				}
				changes := []restclient.Request{{
					Verb: http.MethodPatch, Path: ofNamespace, ContentType: string(api.MergePatchType),
					Body: []byte(`{"metadata":{"finalizers":null}}`),
				}, {
					Verb: http.MethodPut, Path: ofNamespace + "/finalize", ContentType: "application/json",
					Body: []byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"},"spec":{}}`),
				}}
				if test.happens == "is created" {
					changes = append(changes, restclient.Request{Verb: http.MethodPost, Path: "/api/v1/namespaces",
						Body: []byte(`{"metadata":{"name":"shop"}}`)})
				}
				for _, change := range changes {
					assert.NoError(t, aside.Do(t.Context(), change, nil))
				}
				return false
			}), "{}")
			aside = clientOf(t, path)
			audit(t, aside)
			args := append([]string{"why", "--kubeconfig", path, "--interval", "1ms"}, strings.Fields(test.line)...)
			code, stdout, stderr := orrery(t, args...)
			shown := stdout + stderr
			t.Log("\n" + shown)
			assert.Equal(t, test.code, code, shown)
			assert.Contains(t, stdout, test.stdout)
			assert.Contains(t, stderr, test.stderr)
			if test.stdout == "" {
				assert.Empty(t, stdout)
			}
			sentences := strings.Count("\n"+stderr, "\norrery: ") // beside warnings about a slow machine
			assert.Equal(t, min(1, len(test.stderr)), sentences, "one sentence or none: %s", shown)
			if test.code != 0 {
				assert.NotContains(t, stdout, "stuck; ", "nothing is proven")
			}
		})
	}
}

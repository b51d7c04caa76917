package main

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/restclient"
	"orrery/restclient/api"
)

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

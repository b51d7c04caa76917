package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// clientOf returns a client of a cluster.
func clientOf(t *testing.T, path string) *restclient.Client {
	t.Helper()
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func do(t *testing.T, client *restclient.Client, verb, path, body string) {
	t.Helper()
	require.NoError(t, client.Do(t.Context(), restclient.Request{Verb: verb, Path: path, Body: []byte(body)}, nil))
}

// deleteNamespace creates a namespace with the given number of ConfigMaps and deletes it. Without
// a controller it stays.
func deleteNamespace(t *testing.T, client *restclient.Client, name string, configMaps int) {
	t.Helper()
	do(t, client, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
	for i := range configMaps {
		do(t, client, http.MethodPost, "/api/v1/namespaces/"+name+"/configmaps", fmt.Sprintf(`{"metadata":{"name":"c%02d"}}`, i))
	}
	do(t, client, http.MethodDelete, "/api/v1/namespaces/"+name, "")
}

// A server that is busy for a moment, also for discovery, whose requests are sent once, is asked
// again.
func TestALookAsksABusyServerAgain(t *testing.T) {
	direct := builtIn(t)
	var busy atomic.Bool
	path := redirected(t, direct, func(server *url.URL) http.Handler {
		proxy := httputil.NewSingleHostReverseProxy(server)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/readyz" && busy.Swap(false) {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			proxy.ServeHTTP(w, r)
		})
	})
	deleteNamespace(t, clientOf(t, direct), "big", 2)
	busy.Store(true)
	code, stdout, stderr := orrery(t, "run", "--dry-run", "--once", "--kubeconfig", path)
	assert.Equal(t, exitWouldWrite, code, stderr)
	assert.Contains(t, stdout, "big")
	assert.False(t, busy.Load(), "the server was asked")
}

func TestALookSaysWhatARunWouldDelete(t *testing.T) {
	path := builtIn(t)
	look := func() (int, string, string) {
		return orrery(t, "run", "--dry-run", "--once", "--kubeconfig", path)
	}
	code, stdout, stderr := look()
	assert.Zero(t, code, stderr)
	assert.Equal(t, "No namespace is being deleted.\n", stdout)

	client := clientOf(t, path)
	do(t, client, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"stays"}}`)
	deleteNamespace(t, client, "big", 23)
	deleteNamespace(t, client, "empty", 0)
	do(t, client, http.MethodDelete, "/api/v1/namespaces/empty/serviceaccounts", "")
	do(t, client, http.MethodDelete, "/api/v1/namespaces/empty/configmaps", "")
	code, stdout, stderr = look()
	assert.Equal(t, exitWouldWrite, code)
	assert.Contains(t, stdout, "NAMESPACE   TYPE")
	assert.Regexp(t, `big +configmaps +2\d +0 +0 +0 +c00, c01, .*c19 and \d more\n`, stdout)
	assert.Regexp(t, `empty +- +0 +0 +0 +0`, stdout)
	assert.NotContains(t, stdout, "stays")
	assert.Regexp(t, `Terminating namespaces: 2. A run would delete 2\d objects; nothing was written.\n$`, stdout)
	assert.NotContains(t, stderr, "orrery: ", "the exit code is not reported as an error")

	path = builtIn(t, "forbid:verb=list,resource=secrets")
	deleteNamespace(t, clientOf(t, path), "part", 1)
	code, stdout, stderr = look()
	assert.Equal(t, 1, code)
	assert.Contains(t, stdout, "c00", "readable content is shown")
	assert.Regexp(t, `A run would delete at least \d+ objects?;`, stdout)
	assert.Regexp(t, `WARN  dry run: cannot read all content of this namespace namespace=part error=".*secrets`, stderr)
	assert.Equal(t, "orrery: 1 of 1 terminating namespaces could not be read completely, see the log", lastLine(stderr))

	path = builtIn(t, "broken-group:group=metrics.k8s.io,version=v1beta1")
	deleteNamespace(t, clientOf(t, path), "undiscovered", 1)
	code, _, stderr = look()
	assert.Equal(t, 1, code)
	assert.Regexp(t, `WARN  dry run: cannot read all content of this namespace namespace=undiscovered error=".*metrics.k8s.io/v1beta1`, stderr)
}

// What already terminates is not deleted again, and what waits for pods is not deleted yet. The
// table is printed once: the log does not repeat it.
func TestALookTellsApartWhatIsHeldAndWhatWaits(t *testing.T) {
	path := builtIn(t)
	client := clientOf(t, path)
	hold(t, path, "held")
	do(t, client, http.MethodDelete, "/api/v1/namespaces/held/configmaps", "")
	code, stdout, _ := orrery(t, "run", "--dry-run", "--once", "--kubeconfig", path)
	assert.Equal(t, exitWouldWrite, code)
	assert.Regexp(t, `held +configmaps +0 +0 +1 +0 +c\n`, stdout)
	assert.Regexp(t, `A run would delete 0 objects; held by finalizers: 1; nothing was written.\n$`, stdout)

	do(t, client, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"busy"}}`)
	do(t, client, http.MethodPost, "/api/v1/namespaces/busy/pods",
		`{"metadata":{"name":"p","finalizers":["example.com/hold"]},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	do(t, client, http.MethodPost, "/api/v1/namespaces/busy/configmaps", `{"metadata":{"name":"c"}}`)
	do(t, client, http.MethodDelete, "/api/v1/namespaces/busy", "")
	_, stdout, stderr := orrery(t, "run", "--dry-run", "--once", "--kubeconfig", path)
	assert.Regexp(t, `busy +pods +1 +0 +0 +0 +p\n`, stdout)
	assert.Regexp(t, `busy +configmaps +0 +1 +0 +0 +c\n`, stdout)
	assert.Regexp(t, `A run would delete 1 object; behind pods: 1; held by finalizers: 1; nothing`, stdout)
	assert.NotContains(t, stderr, "would delete", "the log does not repeat the table")
}

func TestALookIgnoresUnselectedNamespaces(t *testing.T) {
	path := builtIn(t)
	client := clientOf(t, path)
	deleteNamespace(t, client, "team-a", 1)
	deleteNamespace(t, client, "private", 1)
	code, stdout, stderr := orrery(t, "run", "--dry-run", "--once", "--kubeconfig", path, "--namespaces", "team-*")
	assert.Equal(t, exitWouldWrite, code)
	assert.Contains(t, stdout, "team-a")
	assert.NotContains(t, stdout+stderr, "private")
	assert.Regexp(t, `Terminating namespaces: 1. A run would delete 1 object; .* --namespaces excludes 1 more.\n$`, stdout)

	code, stdout, _ = orrery(t, "run", "--dry-run", "--once", "--kubeconfig", path, "--namespaces", "team-?,-team-a")
	assert.Zero(t, code, "nothing to do")
	assert.Equal(t, "No selected namespace is being deleted; --namespaces excludes 2.\n", stdout)
}

// With the built-in controller, an ordinary namespace is gone after its grace period. A dry run
// that waited for that period never saw any.
func TestADryRunDoesNotWaitForTheGracePeriod(t *testing.T) {
	path := builtIn(t)
	deleteNamespace(t, clientOf(t, path), "short", 1)
	r := startReplica(t, path, "--dry-run")
	r.await("dry run: would delete")
	r.end()
	assert.Contains(t, r.stderr.String(), "namespace is being deleted namespace=short first_look_in_s=0")
}

func TestTheSummaryNamesTwentyObjectsOfAType(t *testing.T) {
	for count, end := range map[int]string{19: ", o19\n", 20: ", o20\n", 21: ", o20 and 1 more\n"} {
		var found []string
		for i := range count {
			found = append(found, fmt.Sprintf("o%02d", i+1))
		}
		var page bytes.Buffer
		secrets := nsctl.Found{ToDelete: count, Names: found}
		content := &seenContent{types: map[string]map[string]nsctl.Found{"ns": {"secrets": secrets}}}
		require.NoError(t, content.write(&page, []*api.Namespace{{ObjectMeta: api.ObjectMeta{Name: "ns"}}}, 0, false))
		assert.Contains(t, page.String(), end, "%d objects", count)
		assert.Contains(t, page.String(), fmt.Sprintf("A run would delete %d objects;", count))
	}
}

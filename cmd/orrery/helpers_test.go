package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// orrery runs the program without a kubeconfig of the user's own.
func orrery(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	var out, err bytes.Buffer
	code = runProgram(newRootCommand(), args, &out, &err)
	return code, out.String(), err.String()
}

// write writes a kubeconfig and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// config is a kubeconfig; further fields of the cluster end with a comma.
func config(server, user, cluster string) string {
	return `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"k","cluster":{` + cluster + `"server":"` + server + `"}}],
		"users":[{"name":"u","user":` + user + `}],
		"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}]}`
}

// writeKubeconfig writes a kubeconfig for a server and returns its path.
func writeKubeconfig(t *testing.T, server, user string) string {
	t.Helper()
	return write(t, config(server, user, ""))
}

// login returns a user whose credentials come from an exec plugin; further fields of it end with a
// comma.
func login(plugin, more string) string {
	return `{"exec":{` + more + `"apiVersion":"client.authentication.k8s.io/v1",
		"command":"` + plugin + `","interactiveMode":"Never"}}`
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// inMemory returns the address of an API server in memory, to which every request is that of an
// administrator. answers is asked first, and returns true if it has answered; nil: never.
func inMemory(t *testing.T, answers func(w http.ResponseWriter, r *http.Request) bool) (url string) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers == nil || !answers(w, r) {
			server.Handler().ServeHTTP(w, r)
		}
	}))
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// serve returns the address of a server that runs until the test ends.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// startOrrery starts "orrery run" without leader election, unless args switch it on. It returns the
// function that stops it and the channel that receives its error.
func startOrrery(t *testing.T, stderr io.Writer, args ...string) (stop func(), ended <-chan error) {
	t.Helper()
	return startProgram(t, io.Discard, stderr, append([]string{"run", "--leader-elect=false"}, args...)...)
}

func startProgram(t *testing.T, stdout, stderr io.Writer, args ...string) (stop func(), ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	program.Prepare(root)
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	t.Cleanup(cancel)
	return cancel, done
}

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

// deleteNamespace creates a namespace with a ConfigMap that has these finalizers, and deletes it.
// Without a controller, or with a finalizer, it stays.
func deleteNamespace(t *testing.T, client *restclient.Client, name string, finalizers ...string) {
	t.Helper()
	list, err := json.Marshal(finalizers)
	require.NoError(t, err)
	do(t, client, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
	do(t, client, http.MethodPost, "/api/v1/namespaces/"+name+"/configmaps",
		`{"metadata":{"name":"c","finalizers":`+string(list)+`}}`)
	do(t, client, http.MethodDelete, "/api/v1/namespaces/"+name, "")
}

// forbidden refuses a request for lack of rights.
var forbidden = refusing(http.StatusForbidden, api.ReasonForbidden)

// serveTLS returns the address of a server that runs until the test ends. Credentials are sent
// over TLS only.
func serveTLS(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

func writeTLSKubeconfig(t *testing.T, server, user string) string {
	t.Helper()
	return write(t, config(server, user, `"insecure-skip-tls-verify":true,`))
}

// await blocks until is returns true. On failure it reports explain.
func await(t *testing.T, is func() bool, explain func() string) {
	t.Helper()
	if !assert.Eventually(t, is, 10*time.Minute, 50*time.Millisecond) {
		text := explain()
		require.Fail(t, "timed out waiting", "the last lines:\n%s", text[max(0, len(text)-8000):])
	}
}

// builtIn is an API server in this process, with a kubeconfig for it.
func builtIn(t *testing.T, faults ...string) (path string) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{NoKubelet: true})
	require.NoError(t, err)
	for _, fault := range faults {
		_, err := server.Faults().Add(fault)
		require.NoError(t, err)
	}
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	path = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(path))
	return path
}

// replica is one "orrery run" that takes part in an election.
type replica struct {
	t      *testing.T
	stderr clustertest.Buffer
	stop   func()
	ended  <-chan error
}

// startReplica starts a replica with a long Lease, so that it cannot expire on a busy machine.
func startReplica(t *testing.T, path string, args ...string) *replica {
	t.Helper()
	r := &replica{t: t}
	r.stop, r.ended = startOrrery(t, &r.stderr, append([]string{
		"--kubeconfig", path, "--leader-elect", "--allow-second-controller", "--metrics-port=0",
		"--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=30m",
	}, args...)...)
	return r
}

// await waits for a line of the log.
func (r *replica) await(text string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return strings.Contains(r.stderr.String(), text) }, 10*time.Minute,
		time.Millisecond, text)
}

// end stops the replica, which must end well.
func (r *replica) end() {
	r.t.Helper()
	r.stop()
	require.NoError(r.t, <-r.ended)
}

// leasesOf returns a client for the Leases of a cluster.
func leasesOf(t *testing.T, path string) *restclient.Resource[*api.Lease] {
	t.Helper()
	return restclient.Typed[*api.Lease](clientOf(t, path), api.LeasesResource, "kube-system")
}

// holdLease creates a Lease with a holder for an hour.
func holdLease(t *testing.T, path, name, holder string) *api.Lease {
	t.Helper()
	seconds, now := int32(3600), api.NewMicroTime(time.Now())
	spec := api.LeaseSpec{HolderIdentity: holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	lease := &api.Lease{ObjectMeta: api.ObjectMeta{Name: name}, Spec: spec}
	lease, err := leasesOf(t, path).Create(t.Context(), lease, api.UpdateOptions{})
	require.NoError(t, err)
	return lease
}

// takeLease forces a change of leader.
func takeLease(t *testing.T, path string) {
	t.Helper()
	_, err := leasesOf(t, path).Patch(t.Context(), "orrery", api.MergePatchType,
		[]byte(`{"spec":{"holderIdentity":"another"}}`), api.UpdateOptions{})
	assert.NoError(t, err)
}

func leaseOf(t *testing.T, path string) *api.Lease {
	t.Helper()
	lease, err := leasesOf(t, path).Get(t.Context(), "orrery", api.GetOptions{})
	require.NoError(t, err)
	return lease
}

// takenPort returns a port that is in use.
func takenPort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// asked returns the page at path, or "" if there is no answer.
func asked(port int, path string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://127.0.0.1:" + strconv.Itoa(port) + path)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return strconv.Itoa(answer.StatusCode) + " " + string(text)
}

func refusing(code int, reason api.StatusReason) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		status := api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: code,
			Reason: reason, Message: "said the server"}
		_ = json.NewEncoder(w).Encode(status)
	}
}

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// startOrrery starts "orrery run". It returns the function that stops it and the channel that
// receives its error.
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

func TestRunEndsWellWhenItIsStopped(t *testing.T) {
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, inMemory(t, nil), "{}"))
	// The informer runs before the controller works. A controller that has not begun has nothing
	// to finish.
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "controller started") },
		10*time.Minute, time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	assert.Equal(t, 1, strings.Count(stderr.String(), "stopping: "))
	assert.True(t, strings.HasSuffix(stderr.String(), " stopped\n"), stderr.String())
}

func TestRunThatIsStoppedBeforeItBeganSaysSo(t *testing.T) {
	asked := make(chan struct{})
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, url, "{}"))
	<-asked
	stop()
	require.NoError(t, <-ended)
	assert.True(t, strings.HasSuffix(stderr.String(), " stopped before it began\n"), stderr.String())
}

// With "orrery run 2>&1 | tee log", the end of tee ends the run, in order.
func TestABrokenPipeEndsTheRunInOrder(t *testing.T) {
	url := inMemory(t, nil)
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer writer.Close()
	_, ended := startOrrery(t, writer, "--kubeconfig", writeKubeconfig(t, url, "{}"), "-v2")
	_, err = reader.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	assert.NoError(t, <-ended)
}

// A login can wait for a person. It can be interrupted.
func TestALoginCanBeInterrupted(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	require.NoError(t, syscall.Mkfifo(started, 0o600))
	plugin := filepath.Join(dir, "plugin")
	require.NoError(t, os.WriteFile(plugin, []byte("#!/bin/sh\necho > "+started+"\nexec sleep 1000\n"), 0o700))
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, "https://127.0.0.1:1", login(plugin, "")))
	fifo, err := os.OpenFile(started, os.O_RDWR, 0) // for both directions, so that opening does not wait for the plugin
	require.NoError(t, err)
	defer fifo.Close()
	running := make(chan error, 1)
	go func() {
		_, err := fifo.Read(make([]byte, 1))
		running <- err
	}()
	select {
	case err := <-running:
		require.NoError(t, err)
	case err := <-ended:
		require.Fail(t, "it ended before the plugin ran", "%v", err)
	}
	stop()
	require.NoError(t, <-ended)
	assert.Contains(t, stderr.String(), "stopped before it began")
}

// blockedWriter is a full pipe whose reader does not read.
type blockedWriter struct{ forever chan struct{} }

func (w blockedWriter) Write([]byte) (int, error) {
	<-w.forever
	return 0, io.ErrClosedPipe
}

// A log that cannot be written changes nothing: the program watches, works, and stops on request.
func TestRunGoesOnWhenItsLogCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	blocked := blockedWriter{make(chan struct{})}
	defer close(blocked.forever)
	for name, stderr := range map[string]io.Writer{"full disk": full, "blocked reader": blocked} {
		for _, format := range []string{"text", "json"} {
			watching := make(chan struct{}, 100)
			url := inMemory(t, func(_ http.ResponseWriter, r *http.Request) bool {
				if isWatch(r) {
					watching <- struct{}{}
				}
				return false
			})
			stop, ended := startOrrery(t, stderr, "--kubeconfig", writeKubeconfig(t, url, "{}"), "-v2",
				"--log-format", format, "--metrics-port=0")
			for range 2 { // the question whether a streaming list is allowed; the list, which goes on as a watch
				select {
				case <-watching:
				case err := <-ended:
					require.Fail(t, "it ended before it watched", "%s, %s: %v", name, format, err)
				}
			}
			stop()
			assert.NoError(t, <-ended, "%s, %s", name, format)
		}
	}
}

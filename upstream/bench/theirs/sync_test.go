package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

func TestMain(m *testing.M) {
	workloads.ServeIfAsked()
	os.Exit(m.Run())
}

// Both sides have the same pods in their caches.
func TestSyncDoesTheSameWork(t *testing.T) {
	cfg := workloads.SyncConfig{Objects: 300}
	original, err := workloads.RunSync(t.Context(), Sync(), &cfg, nil)
	require.NoError(t, err)
	ours, err := workloads.RunSync(t.Context(), workloads.FastSync(), &cfg, nil)
	require.NoError(t, err)
	assert.Equal(t, ours.Proof, original.Proof)
}

// The two clients send the same requests: for a streaming list, which is refused, and then for a
// list. client-go accepts protobuf as well, which the server does not have.
func TestSyncAsksForTheSame(t *testing.T) {
	in, end := io.Pipe()
	said, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- workloads.ServePods(3, in, out) }()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	target, err := url.Parse(strings.TrimSpace(line))
	require.NoError(t, err)
	ask := func(subject workloads.SyncSubject) (asked []string) {
		requests := make(chan string, 10)
		proxy := httputil.NewSingleHostReverseProxy(target)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			query.Del("timeoutSeconds")
			query.Del("timeout")
			accept := r.Header.Get("Accept")
			if first, rest, _ := strings.Cut(accept, ","); strings.HasPrefix(first,
				"application/vnd.kubernetes.protobuf") {
				accept = rest
			}
			requests <- strings.ReplaceAll(query.Encode(), "watch=1", "watch=true") + " " + accept
			proxy.ServeHTTP(w, r)
		}))
		defer server.Close()
		informer, err := subject.Start(server.URL)
		require.NoError(t, err)
		defer informer.Stop()
		for range 3 {
			asked = append(asked, <-requests)
		}
		return asked
	}
	assert.Equal(t, ask(workloads.FastSync()), ask(Sync()))
	end.Close()
	assert.NoError(t, <-served)
}

// The originals' proofs equal those of this project's queue.
func TestQueuesProveTheSame(t *testing.T) {
	for _, original := range []workloads.QueueSubject{Queue(), PriorityQueue()} {
		theirs := workloads.QueueScenarios(original)
		require.Len(t, theirs, len(workloads.QueueScenarios(workloads.FastQueue())))
		for i, ours := range workloads.QueueScenarios(workloads.FastQueue()) {
			want, err := ours.Run(t.Context(), bench.Quick)
			require.NoError(t, err, ours.Name)
			got, err := theirs[i].Run(t.Context(), bench.Quick)
			require.NoError(t, err, "%s: %s", original.Name(), ours.Name)
			assert.Equal(t, want.Proof, got.Proof, "%s: %s", original.Name(), ours.Name)
		}
	}
}

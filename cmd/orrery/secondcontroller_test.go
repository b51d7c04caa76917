package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/apiserver"
	"orrery/internal/leaderelection"
	"orrery/internal/secondcontroller"
	"orrery/restclient/api"
)

// crowdedCluster is an API server in memory that looks like a genuine one, of whose controllers nothing shows. Somebody takes namespaces
// down there, when taking allows it.
func crowdedCluster(t *testing.T, taking <-chan struct{}) (path string, probes *atomic.Int32) {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	probes = &atomic.Int32{}
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/"+secondcontroller.CanaryPrefix)
		switch {
		case r.URL.Path == "/version":
			_ = json.NewEncoder(w).Encode(api.VersionInfo{GitVersion: "v1.36.3"})
		case probe && r.Method == http.MethodGet:
			select {
			case <-taking:
			case <-r.Context().Done():
			}
			refusing(http.StatusNotFound, api.ReasonNotFound)(w, r)
		default:
			if probe && r.Method == http.MethodDelete {
				probes.Add(1)
			}
			server.Handler().ServeHTTP(w, r)
		}
	}))
	return writeKubeconfig(t, url, "{}"), probes
}

// A replica that finds another namespace controller gives the Lease back and ends. The one that stood by finds out for itself: it has not
// relieved anybody who worked.
func TestNoReplicaWorksAfterOneThatHasRefused(t *testing.T) {
	taking := make(chan struct{})
	path, probes := crowdedCluster(t, taking)
	start := func() *replica {
		r := &replica{t: t}
		r.stop, r.ended = startOrrery(t, &r.stderr, "--kubeconfig", path, "--leader-elect", "--metrics-port=0")
		return r
	}
	first := start()
	first.await("finding out whether another namespace controller works")
	second := start()
	second.await("standing by")
	close(taking)
	for _, r := range []*replica{first, second} {
		select {
		case err := <-r.ended:
			var refusal *secondControllerError
			require.ErrorAs(t, err, &refusal)
		case <-time.After(time.Minute):
			require.Fail(t, "it works beside another one", r.stderr.String())
		}
		assert.NotContains(t, r.stderr.String(), "controller started")
	}
	assert.Equal(t, int32(2), probes.Load())
}

// Who follows on one that has worked goes to work at once.
func TestAReplicaRelievesOnlyOneThatWorked(t *testing.T) {
	for _, test := range []struct {
		term     leaderelection.Term
		relieves bool
	}{
		{leaderelection.Term{Witnessed: true, Tenure: time.Hour}, true},
		{leaderelection.Term{Witnessed: true, Tenure: secondcontroller.CanaryWait}, false},
		{leaderelection.Term{Witnessed: false, Tenure: time.Hour}, false},
		{leaderelection.Term{}, false},
	} {
		assert.Equal(t, test.relieves, relieves(test.term), test.term)
	}
}

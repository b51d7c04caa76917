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

	"orrery/internal/lab/apiserver"
	"orrery/internal/leaderelection"
	"orrery/internal/secondcontroller"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// crowdedCluster is an API server in memory that looks like a genuine one, of whose controllers nothing shows. Somebody takes namespaces
// down there at once. They can be made when making allows it.
func crowdedCluster(t *testing.T, making <-chan struct{}) (path string, probes *atomic.Int32) {
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
			refusing(http.StatusNotFound, api.ReasonNotFound)(w, r)
		default:
			if r.URL.Path == "/api/v1/namespaces" && r.Method == http.MethodPost && r.URL.RawQuery == "" {
				select {
				case <-making:
				case <-t.Context().Done(): // the request's own ends only when its body has been read
					return
				}
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
	making := make(chan struct{})
	path, probes := crowdedCluster(t, making)
	first := startReplica(t, path, "--allow-second-controller=false")
	first.await("became leader")
	second := startReplica(t, path, "--allow-second-controller=false")
	second.await("standing by")
	close(making) // only now the first can find out
	for _, r := range []*replica{first, second} {
		select {
		case err := <-r.ended:
			var refusal *secondControllerError
			require.ErrorAs(t, err, &refusal)
		case <-time.After(10 * time.Minute):
			require.Fail(t, "it works beside another one", r.stderr.String())
		}
		assert.NotContains(t, r.stderr.String(), "controller started")
	}
	assert.Equal(t, int32(2), probes.Load())
}

// Whoever is stopped while it finds out has not worked: it does not say so, neither in the log nor in the Lease.
func TestAReplicaThatIsStoppedBeforeItKnowsHasNotWorked(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	r := startReplica(t, path, "--allow-second-controller=false")
	r.await("became leader")
	r.stop()
	require.NoError(t, <-r.ended)
	r.await("gave the Lease back")
	assert.NotContains(t, r.stderr.String(), "controller started")
	assert.NotContains(t, r.stderr.String(), "stopping: finishing")
	assert.Empty(t, leaseOf(t, path).Annotations)
}

// Who follows on one that has worked goes to work at once.
func TestAReplicaRelievesOnlyOneThatWorked(t *testing.T) {
	for _, test := range []struct {
		term     leaderelection.Term
		relieves bool
	}{
		{leaderelection.Term{Witnessed: true, Worked: true}, true},
		{leaderelection.Term{Witnessed: true, Worked: false}, false},
		{leaderelection.Term{Witnessed: false, Worked: true}, false},
		{leaderelection.Term{}, false},
	} {
		assert.Equal(t, test.relieves, relieves(test.term), test.term)
	}
}

// What is only suspected is not called a fact, in a rehearsal either.
func TestADryRunSaysHowMuchItKnows(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	leases := leasesOf(t, path)
	seconds, now := int32(3600), api.NewMicroTime(time.Now())
	lease := &api.Lease{ObjectMeta: api.ObjectMeta{Name: "kube-controller-manager"}}
	lease.Spec = api.LeaseSpec{HolderIdentity: "m", LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	_, err := leases.Create(t.Context(), lease, api.UpdateOptions{})
	require.NoError(t, err)
	r := startReplica(t, path, "--allow-second-controller=false", "--dry-run")
	r.await("controller started")
	assert.Contains(t, r.stderr.String(), "another namespace controller may work")
	assert.NotContains(t, r.stderr.String(), "another namespace controller works")
	r.stop()
	require.NoError(t, <-r.ended)
}

// What an earlier run has left behind is taken away by the next one that works.
func TestALeftoverProbeIsDeleted(t *testing.T) {
	path := builtIn(t)
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	left := &api.Namespace{ObjectMeta: api.ObjectMeta{
		Name: secondcontroller.CanaryPrefix + "left", Labels: map[string]string{"app.kubernetes.io/managed-by": "orrery"},
	}}
	_, err = restclient.Typed[*api.Namespace](client, api.NamespacesResource, "").Create(t.Context(), left, api.UpdateOptions{})
	require.NoError(t, err)
	r := startReplica(t, path, "--allow-second-controller=false", "--namespace-deletion-grace-period=0")
	r.await("left behind, has been deleted")
	r.await("namespace finalized")
	r.stop()
	require.NoError(t, <-r.ended)
}

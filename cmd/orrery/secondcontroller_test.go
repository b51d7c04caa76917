package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// crowdedCluster is an in-memory API server that looks like a real cluster. Once shown is closed
// it has a kube-controller-manager pod, whose command line enables the namespace controller;
// until then the pod cannot be read. looks counts the reads.
func crowdedCluster(t *testing.T, shown <-chan struct{}) (path string, looks *atomic.Int32) {
	t.Helper()
	looks = &atomic.Int32{}
	url := inMemory(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/version":
			_ = json.NewEncoder(w).Encode(api.VersionInfo{GitVersion: "v1.36.3"})
		case "/api/v1/namespaces/kube-system/pods":
			select {
			case <-shown:
				looks.Add(1)
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w,
					`{"items":[{"metadata":{"name":"m"},"spec":{"containers":[{"command":["kube-controller-manager"]}]},
					"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`)
			default:
				forbidden(w, r)
			}
		default:
			return false
		}
		return true
	})
	return writeKubeconfig(t, url, "{}"), looks
}

// A new leader that finds another namespace controller releases the Lease and exits. The next
// leader looks for itself.
func TestNoReplicaWorksAfterOneThatHasRefused(t *testing.T) {
	shown := make(chan struct{})
	path, looks := crowdedCluster(t, shown)
	held := holdLease(t, path, "orrery", "a replica that has not worked")
	replicas := []*replica{startReplica(t, path, "--allow-second-controller=false"),
		startReplica(t, path, "--allow-second-controller=false")}
	for _, r := range replicas {
		r.await("standing by")
	}
	close(shown) // both have probed and found nothing
	held.Spec.HolderIdentity = ""
	_, err := leasesOf(t, path).Update(t.Context(), held, api.UpdateOptions{})
	require.NoError(t, err)
	for _, r := range replicas {
		select {
		case err := <-r.ended:
			var refusal *secondControllerError
			require.ErrorAs(t, err, &refusal)
		case <-time.After(10 * time.Minute):
			require.Fail(t, "two controllers are working", r.stderr.String())
		}
		r.await("became leader")
		assert.NotContains(t, r.stderr.String(), "controller started")
	}
	assert.Equal(t, int32(2), looks.Load())
}

// With evidence readable at the start, the run does not start.
func TestAReplicaThatSeesAnotherControllerDoesNotStandBy(t *testing.T) {
	shown := make(chan struct{})
	close(shown)
	path, _ := crowdedCluster(t, shown)
	r := startReplica(t, path, "--allow-second-controller=false")
	var refusal *secondControllerError
	require.ErrorAs(t, <-r.ended, &refusal)
	assert.NotContains(t, r.stderr.String(), "waiting for leadership")
}

// A probe that cannot see is worth a warning: two controllers may be active.
func TestAReplicaThatCannotSeeAnotherControllerWarns(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	r := startReplica(t, path, "--allow-second-controller=false")
	r.await("controller started")
	assert.Contains(t, r.stderr.String(),
		"WARN  cannot determine whether another controller of this kind is active, continuing")
	r.end()
}

// A suspicion is not reported as a fact, in a dry run either. A dry run does not wait for the grace
// period of a namespace.
func TestADryRunSaysHowMuchItKnows(t *testing.T) {
	path, _ := crowdedCluster(t, nil)
	holdLease(t, path, "kube-controller-manager", "m")
	deleteNamespace(t, clientOf(t, path), "shop")
	r := startReplica(t, path, "--allow-second-controller=false", "--dry-run",
		"--namespace-deletion-grace-period=24h")
	r.await("controller started")
	r.await("dry run: would delete")
	assert.Contains(t, r.stderr.String(), "another controller of this kind may be active")
	assert.NotContains(t, r.stderr.String(), "another controller of this kind is active")
	r.end()
}

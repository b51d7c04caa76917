package main

import (
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/status"
	"orrery/restclient/api"
)

// statusOf runs "orrery status" and returns its JSON output.
func statusOf(t *testing.T, args ...string) (code int, report status.Report) {
	t.Helper()
	code, stdout, stderr := orrery(t, append([]string{"status", "-o", "json"}, args...)...)
	require.Empty(t, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), stdout)
	return code, report
}

// hold creates namespaces that stay terminating: their content has a finalizer that is never
// removed.
func hold(t *testing.T, path string, names ...string) {
	t.Helper()
	client := clientOf(t, path)
	for _, name := range names {
		do(t, client, "POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
		do(t, client, "POST", "/api/v1/namespaces/"+name+"/configmaps",
			`{"metadata":{"name":"c","finalizers":["example.com/hold"]}}`)
		do(t, client, "DELETE", "/api/v1/namespaces/"+name, "")
	}
}

func TestStatus(t *testing.T) {
	path := builtIn(t)
	code, report := statusOf(t, "--kubeconfig", path)
	assert.Equal(t, 1, code)
	assert.Equal(t, []string{"no leader: there is no Lease kube-system/orrery"}, report.Problems)

	var addresses []string
	for _, line := range []string{"controller started", "standing by"} {
		port := strconv.Itoa(freePort(t))
		addresses = append(addresses, "127.0.0.1:"+port)
		r := startReplica(t, path, "--metrics-port", port, "--namespace-deletion-grace-period=0s", "--namespaces=team-*")
		r.await("other namespaces are left alone")
		r.await(line)
	}
	hold(t, path, "team-a", "other")
	leader, standby := addresses[0], addresses[1]
	await(t, func() bool { // the cache of a standby lags, and so does the leader's report
		for _, address := range addresses {
			_, report := statusOf(t, "--address", address)
			if len(report.Namespaces) != 1 || report.PassedOver != 1 || !strings.Contains(report.Namespaces[0].Why, "example.com/hold in 1 resource instances") {
				return false
			}
		}
		return true
	}, func() string { return "" })
	for name, where := range map[string][]string{"leader": {"--address", leader}, "standby": {"--address", standby}, "cluster": {"--kubeconfig", path}} {
		t.Run(name, func(t *testing.T) {
			code, report := statusOf(t, where...)
			assert.Zero(t, code, "the age of a deletion is no verdict")
			assert.Empty(t, report.Problems)
			assert.Equal(t, "kube-system/orrery", report.Leader.Lease)
			assert.Equal(t, leaseOf(t, path).Spec.HolderIdentity, report.Leader.Holder)
			assert.True(t, leaseOf(t, path).Spec.AcquireTime.Equal(*report.Leader.Since))
			assert.Equal(t, name == "leader", report.Leader.Self)
			assert.Equal(t, name == "leader", report.Backlog != nil)
			var names []string
			for _, n := range report.Namespaces {
				names = append(names, n.Name)
			}
			assert.Contains(t, names, "team-a")
			assert.Equal(t, name == "cluster", slices.Contains(names, "other"), "replicas report selected namespaces only")
		})
	}
}

// statusAt returns the options of "orrery status" with another default address.
func statusAt(address string) *statusOptions {
	options := &statusOptions{}
	options.addTo(pflag.NewFlagSet("status", pflag.ContinueOnError))
	options.address = address
	return options
}

// By default "orrery status" asks a replica on this machine; if none answers, the cluster.
func TestStatusOfTheClusterIfNoReplicaAnswers(t *testing.T) {
	path := builtIn(t)
	t.Setenv("KUBECONFIG", path)
	options := statusAt("127.0.0.1:" + strconv.Itoa(freePort(t)))
	report, err := options.report(t.Context(), t.Output())
	require.NoError(t, err)
	assert.Empty(t, report.Replica)

	hangs := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	options.address, options.replicaTimeout = strings.TrimPrefix(hangs, "http://"), time.Millisecond
	report, err = options.report(t.Context(), t.Output())
	require.NoError(t, err)
	assert.Empty(t, report.Replica)
}

// On a shared machine the replica at the default address may be a colleague's, of another cluster.
func TestAReplicaOfAnotherClusterIsRefused(t *testing.T) {
	path, other := builtIn(t), builtIn(t)
	port := strconv.Itoa(freePort(t))
	r := startReplica(t, path, "--metrics-port", port)
	r.await("store is filled")
	status := func(kubeconfig string) (*status.Report, error) {
		t.Setenv("KUBECONFIG", kubeconfig)
		return statusAt("127.0.0.1:"+port).report(t.Context(), t.Output())
	}
	report, err := status(path)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:"+port, report.Replica)
	assert.NotEmpty(t, report.ClusterUID)

	_, err = status(other)
	assert.ErrorContains(t, err, "the replica at 127.0.0.1:"+port+" is a client of "+
		clientOf(t, path).Config().Host+", and the kubeconfig means "+clientOf(t, other).Config().Host)
	assert.ErrorContains(t, err, "--address 127.0.0.1:"+port+" asks that replica")

	balance := func(server *url.URL) http.Handler { return httputil.NewSingleHostReverseProxy(server) }
	balanced := redirected(t, path, balance)
	_, err = status(balanced)
	assert.NoError(t, err, "the same cluster behind another address")

	refuses := serve(t, &quietCluster{refuse: forbidden})
	_, err = status(writeKubeconfig(t, refuses, "{}"))
	assert.ErrorContains(t, err, "it is not known whether that is the cluster of the kubeconfig, "+refuses)

	_, err = status(filepath.Join(t.TempDir(), "missing"))
	assert.Error(t, err, "$KUBECONFIG means a cluster, and that cannot be found")
	t.Setenv("HOME", t.TempDir())
	report, err = status("")
	require.NoError(t, err, "without a kubeconfig, no other cluster is meant")
	assert.NotEmpty(t, report.Replica)
}

// "orrery status --as" shows what another user may see, as "orrery run --as" does.
func TestStatusAsAnotherUser(t *testing.T) {
	asked := make(chan http.Header, 1)
	url := serve(t, &quietCluster{refuse: func(r *http.Request) (int, api.StatusReason) {
		select {
		case asked <- r.Header.Clone():
		default:
		}
		return 403, api.ReasonForbidden
	}})
	code, _, _ := orrery(t, "status", "--kubeconfig", writeKubeconfig(t, url, "{}"), "--as", "jane", "--as-group", "devs", "--as-group", "ops")
	assert.Equal(t, 2, code)
	header := <-asked
	assert.Equal(t, "jane", header.Get("Impersonate-User"))
	assert.Equal(t, []string{"devs", "ops"}, header.Values("Impersonate-Group"))
}

// "orrery status" logs what "orrery run" logs about its connection, and never on standard output.
func TestStatusSaysWhatTheConnectionIs(t *testing.T) {
	url := serveTLS(t, &quietCluster{refuse: forbidden})
	code, stdout, stderr := orrery(t, "status", "-o", "json", "--kubeconfig", writeTLSKubeconfig(t, url, "{}"))
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "WARN  the connection is not safe")
	assert.Contains(t, lastLine(stderr), "orrery: reading the status at "+url)
}

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/upstream/controlplane"
)

// replicaGroup is the group of the replicas in the audit log. Each replica is a user of its own, so
// that their requests can be distinguished.
const replicaGroup = "orrery:replicas"

const replicaAuditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["` + replicaGroup + `"]
- level: None
`

// The two promised bounds: a successor works within twenty seconds after a leader was killed, and
// within two after it stopped cleanly. They are measured by the API server's clock; see promised.
//
// The parts run one after the other: each deletes namespaces, and a replica works on all of them.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	tr := startForReplicas(t)
	for name, test := range map[string]func(*testing.T, *election){
		"killed":  testKilledLeader,
		"stopped": testCleanStop,
		"in-hand": testCleanStopWithWorkInHand,
		"paused":  testPausedLeader,
	} {
		t.Run(name, func(t *testing.T) { test(t, &election{trial: tr.in(t), name: name}) })
	}
}

// Contention without work. Each part has a Lease of its own, so they run in parallel.
func TestContendersForALease(t *testing.T) {
	t.Parallel()
	tr := startForReplicas(t)
	for name, test := range map[string]func(*testing.T, *election){
		"killed-soon": testKilledSoon,
		"client-go":   testClientGo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &election{trial: tr.in(t), name: name})
		})
	}
}

// startForReplicas returns a trial on a control plane for the test.
func startForReplicas(t *testing.T) *trial {
	t.Helper()
	reserveCluster(t)
	return onControlPlane(t, controlplane.Config{AuditPolicy: replicaAuditPolicy})
}

// election is one Lease with its contenders.
type election struct {
	*trial
	name string // of the Lease
	// through holds the kubeconfig files of users that reach the server through a relay.
	through map[string]string
}

// promised checks a bound. try returns when the measured period began and ended. How late a busy
// machine was in that period, measured beside it, is subtracted.
func (e *election) promised(within time.Duration, try func(e *election) (from, to time.Time)) {
	e.t.Helper()
	machine := measureLateness(e.t, e.client, "machine-"+e.name)
	from, to := try(e)
	took, late := to.Sub(from), machine.between(from, to)
	assert.Less(e.t, took-late, within, "over the bound: it took %s, of which the machine was late for %s", took, late)
}

// replica is one run of orrery.
type replica struct {
	*program
	election *election
	user     string
}

// start runs a replica as the user.
func (e *election) start(user string, args ...string) *replica {
	e.t.Helper()
	kubeconfig, found := e.through[user]
	if !found {
		kubeconfig = e.kubeconfig(user)
	}
	user = e.name + "-" + user
	args = append([]string{
		"--leader-elect=true", "--leader-elect-resource-name=" + e.name, "-v1",
		"--allow-second-controller", "--namespace-deletion-grace-period=1s",
	}, args...)
	return &replica{program: runOrrery(e.t, kubeconfig, args...), election: e, user: user}
}

// kubeconfig writes a kubeconfig file for a replica.
func (e *election) kubeconfig(user string) string {
	e.t.Helper()
	kubeconfig, err := e.cluster.KubeconfigFor(e.name+"-"+user, replicaGroup, "system:masters")
	require.NoError(e.t, err)
	return kubeconfig
}

// startPair runs two replicas: the first leads, and the second stands by with warm caches. The
// first gets the arguments.
func (e *election) startPair(slow ...string) (leader, standby *replica) {
	e.t.Helper()
	leader = e.start("first", slow...)
	leader.AwaitOutput("became leader")
	standby = e.start("second")
	standby.AwaitOutput("standing by")
	standby.AwaitOutput("store is filled")
	return leader, standby
}

func (e *election) lease() *coordinationv1.Lease {
	e.t.Helper()
	lease, err := e.client.CoordinationV1().Leases("kube-system").Get(e.ctx, e.name, metav1.GetOptions{})
	require.NoError(e.t, err)
	return lease
}

// fill creates namespaces with ten objects each.
func (e *election) fill(count int) []string {
	e.t.Helper()
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%03d", e.name, i)
	}
	e.parallelize(count, func(i int) error {
		_, err := e.client.CoreV1().Namespaces().Create(e.ctx, namespaceNamed(names[i]), metav1.CreateOptions{})
		for object := 0; object < 10 && err == nil; object++ {
			err = e.tryConfigMap(names[i], fmt.Sprintf("object-%d", object))
		}
		return err
	})
	return names
}

// deleteAll marks the namespaces for deletion.
func (e *election) deleteAll(names []string) {
	e.t.Helper()
	e.parallelize(len(names), func(i int) error {
		return e.client.CoreV1().Namespaces().Delete(e.ctx, names[i], metav1.DeleteOptions{})
	})
}

// left returns how many of the namespaces still exist.
func (e *election) left(names []string) int {
	e.t.Helper()
	list, err := e.client.CoreV1().Namespaces().List(e.ctx, metav1.ListOptions{})
	require.NoError(e.t, err)
	count := 0
	for _, namespace := range list.Items {
		if slices.Contains(names, namespace.Name) {
			count++
		}
	}
	return count
}

// awaitHalfway blocks until that many namespaces are gone, and fails if all are.
func (e *election) awaitHalfway(names []string, gone int) {
	e.t.Helper()
	e.eventually("some namespaces are gone", func() (bool, error) { return e.left(names) <= len(names)-gone, nil })
	require.NotZero(e.t, e.left(names), "the deletions finished before the test could interrupt them")
}

func (e *election) awaitAllGone(names []string) {
	e.t.Helper()
	e.eventually("all namespaces are gone", func() (bool, error) { return e.left(names) == 0, nil })
}

// entry is a request of a replica, by the API server's clock.
type entry struct {
	request
	User struct {
		Username string
	}
	StageTimestamp time.Time // when it was answered
}

// requests returns the replica's requests in the order of arrival.
func (r *replica) requests() []entry {
	r.election.t.Helper()
	t := r.election.t
	var requests []entry
	for _, line := range completeLines(t, r.election.controlPlane().AuditLog()) {
		var a entry
		require.NoError(t, json.Unmarshal(line, &a), "line of the audit log: %s", line)
		if isStream := a.Verb == "watch"; a.User.Username == r.user && (a.Stage == "ResponseStarted") == isStream {
			requests = append(requests, a)
		}
	}
	slices.SortFunc(requests, func(a, b entry) int { return a.RequestReceivedTimestamp.Compare(b.RequestReceivedTimestamp) })
	return requests
}

// isWork reports whether the request changes namespaces or their content. Writes of the Lease and
// of Events are not work.
func (a entry) isWork() bool {
	switch a.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
	default:
		return false
	}
	ref := a.ObjectRef
	if ref.APIGroup == "authorization.k8s.io" { // a review of rights is a create and stores nothing
		return false
	}
	return ref.Resource != "leases" && !(ref.Resource == "events" && (ref.Namespace == "default" || ref.Namespace == "kube-system"))
}

// work returns the replica's requests that are work.
func (r *replica) work() []entry {
	r.election.t.Helper()
	return slices.DeleteFunc(r.requests(), func(a entry) bool { return !a.isWork() })
}

// leaseWrites returns the replica's successful writes of the Lease.
func (r *replica) leaseWrites() []entry {
	r.election.t.Helper()
	return slices.DeleteFunc(r.requests(), func(a entry) bool {
		isWrite := (a.Verb == "update" || a.Verb == "create") && !strings.Contains(a.RequestURI, "dryRun")
		return a.ObjectRef.Resource != "leases" || !isWrite || a.ResponseStatus.Code >= 300
	})
}

// requireNotBoth checks that the last write of one replica was answered before the first of the
// other.
func requireNotBoth(t *testing.T, before, after *replica) {
	t.Helper()
	first, second := before.work(), after.work()
	require.NotEmpty(t, first, "%s did nothing", before.user)
	require.NotEmpty(t, second, "%s did nothing", after.user)
	for _, a := range first {
		assert.Less(t, a.RequestReceivedTimestamp, second[0].RequestReceivedTimestamp,
			"%s sent %s after %s had begun with %s", before.user, a, after.user, second[0])
	}
}

// requireWarm checks that a replica had filled its store before it took over, and filled it once.
func requireWarm(t *testing.T, r *replica) {
	t.Helper()
	began := r.leaseWrites()[0].RequestReceivedTimestamp
	lists := slices.DeleteFunc(r.requests(), func(a entry) bool { return !a.initialList() })
	require.NotEmpty(t, lists)
	for _, list := range lists {
		assert.Less(t, list.RequestReceivedTimestamp, began, "%s", list)
	}
}

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

// replicaGroup is the group by which the audit log knows replicas. Each is a user of its own, so that their requests
// can be told apart.
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

// What two replicas promise. The two bounds in here are those that are promised to people: twenty seconds after a
// leader was killed, two after one has ended well. They are measured by the clock of the API server; see promised.
//
// The parts delete namespaces, and a replica works on every namespace of its cluster: one part after the other.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	cp := startForReplicas(t)
	for name, test := range map[string]func(*testing.T, *election){
		"killed":  testKilledLeader,
		"stopped": testCleanStop,
		"in-hand": testCleanStopWithWorkInHand,
		"paused":  testPausedLeader,
	} {
		t.Run(name, func(t *testing.T) { test(t, newElection(t, cp, name)) })
	}
}

// Who has the Lease, while there is nothing to do. Each part has a Lease of its own, so they run side by side.
func TestContendersForALease(t *testing.T) {
	t.Parallel()
	cp := startForReplicas(t)
	for name, test := range map[string]func(*testing.T, *election){
		"killed-soon": testKilledSoon,
		"interrupted": testInterruptedStandby,
		"forbidden":   testForbiddenLease,
		"client-go":   testClientGo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newElection(t, cp, name))
		})
	}
}

// startForReplicas starts a control plane of the test's own.
func startForReplicas(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	reserveCluster(t)
	cp, err := controlplane.Start(t.Context(), controlplane.Config{AuditPolicy: replicaAuditPolicy, Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	return cp
}

func newElection(t *testing.T, cp *controlplane.ControlPlane, name string) *election {
	return &election{trial: newTrial(t, &Cluster{Server: cp, subject: Orrery()}, endState{}), cp: cp, name: name}
}

// election is one Lease and those who contend for it.
type election struct {
	*trial
	cp   *controlplane.ControlPlane
	name string // of the Lease
	// through are kubeconfig files of users that do not go straight to the server.
	through map[string]string
}

// promised checks a time that is promised to people: try returns when what the promise is about began and ended. A machine
// that has others to serve makes it longer, so what the machine was late in between, measured beside it, does not count.
func (e *election) promised(within time.Duration, try func(e *election) (from, to time.Time)) {
	e.t.Helper()
	machine := measureLateness(e.t, e.client, "machine-"+e.name)
	from, to := try(e)
	took, late := to.Sub(from), machine.between(from, to)
	assert.Less(e.t, took-late, within, "a promise is not kept: it took %s, of which the machine was late for %s", took, late)
}

// replica is one run of orrery.
type replica struct {
	*program
	election *election
	user     string
}

// start runs a replica. The user is its own.
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

// kubeconfig writes one for a replica.
func (e *election) kubeconfig(user string) string {
	e.t.Helper()
	kubeconfig, err := e.cp.KubeconfigFor(e.name+"-"+user, replicaGroup, "system:masters")
	require.NoError(e.t, err)
	return kubeconfig
}

// startPair runs two, of which the first leads and the second stands by with its caches warm. slow are arguments of the
// first.
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
	e.sideBySide(count, func(i int) error {
		_, err := e.client.CoreV1().Namespaces().Create(e.ctx, namespaceNamed(names[i]), metav1.CreateOptions{})
		for object := 0; object < 10 && err == nil; object++ {
			err = e.tryConfigMap(names[i], fmt.Sprintf("object-%d", object))
		}
		return err
	})
	return names
}

// deleteAll asks for the deletion of the namespaces.
func (e *election) deleteAll(names []string) {
	e.t.Helper()
	e.sideBySide(len(names), func(i int) error {
		return e.client.CoreV1().Namespaces().Delete(e.ctx, names[i], metav1.DeleteOptions{})
	})
}

// left is how many of the namespaces are still there.
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

// awaitHalfway waits until so many namespaces are gone, and not all.
func (e *election) awaitHalfway(names []string, gone int) {
	e.t.Helper()
	e.eventually("some namespaces are gone", func() (bool, error) { return e.left(names) <= len(names)-gone, nil })
	require.NotZero(e.t, e.left(names), "this test is about the middle, and came too late")
}

func (e *election) awaitAllGone(names []string) {
	e.t.Helper()
	e.eventually("all namespaces are gone", func() (bool, error) { return e.left(names) == 0, nil })
}

// entry is a request of a replica, by the clock of the API server.
type entry struct {
	request
	User struct {
		Username string
	}
	StageTimestamp time.Time // when it had been answered
}

// requests returns those of a replica, in the order in which they came.
func (r *replica) requests() []entry {
	r.election.t.Helper()
	t := r.election.t
	var requests []entry
	for _, line := range completeLines(t, r.election.cp.AuditLog()) {
		var a entry
		require.NoError(t, json.Unmarshal(line, &a), "line of the audit log: %s", line)
		if isStream := a.Verb == "watch"; a.User.Username == r.user && (a.Stage == "ResponseStarted") == isStream {
			requests = append(requests, a)
		}
	}
	slices.SortFunc(requests, func(a, b entry) int { return a.RequestReceivedTimestamp.Compare(b.RequestReceivedTimestamp) })
	return requests
}

// isWork tells whether the request changes namespaces or what is in them. The Lease, and the Events that tell of it and of
// deletions that are done, are not the work.
func (a entry) isWork() bool {
	switch a.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
	default:
		return false
	}
	ref := a.ObjectRef
	return ref.Resource != "leases" && !(ref.Resource == "events" && (ref.Namespace == "default" || ref.Namespace == "kube-system"))
}

// work returns what the replica did.
func (r *replica) work() []entry {
	r.election.t.Helper()
	return slices.DeleteFunc(r.requests(), func(a entry) bool { return !a.isWork() })
}

// leaseWrites returns the replica's writes of the Lease that went well.
func (r *replica) leaseWrites() []entry {
	r.election.t.Helper()
	return slices.DeleteFunc(r.requests(), func(a entry) bool {
		isWrite := (a.Verb == "update" || a.Verb == "create") && !strings.Contains(a.RequestURI, "dryRun")
		return a.ObjectRef.Resource != "leases" || !isWrite || a.ResponseStatus.Code >= 300
	})
}

// requireNotBoth checks that one had ended its work before the other began: its last write had been answered.
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

// requireWarm checks that a replica that took over had filled its store before, and did not do so again.
func requireWarm(t *testing.T, r *replica) {
	t.Helper()
	began := r.leaseWrites()[0].RequestReceivedTimestamp
	lists := slices.DeleteFunc(r.requests(), func(a entry) bool { return !a.initialList() })
	require.NotEmpty(t, lists)
	for _, list := range lists {
		assert.Less(t, list.RequestReceivedTimestamp, began, "%s", list)
	}
}

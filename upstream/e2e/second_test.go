package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"orrery/upstream/controlplane"
)

// secondRefused is the start of orrery's message when another namespace controller works.
const secondRefused = "orrery: this cluster has an active namespace controller: "

// inTime runs orrery until saw returns true: the evidence is valid for some seconds only, which a
// busy machine may miss. again renews it.
func inTime(t *testing.T, run func() *program, saw func(*program) bool, again func()) *program {
	t.Helper()
	for range 30 {
		p := run()
		eventually(t, "orrery has made up its mind", nil, func() (bool, error) {
			return !p.Running() || p.printed([]string{"store is filled"}), nil
		})
		if saw(p) {
			return p
		}
		p.Kill()
		again()
	}
	require.Fail(t, "orrery never saw the other controller")
	return nil
}

// requireRefused waits for a program that must not start, and checks its last line.
func requireRefused(t *testing.T, p *program, how string) {
	t.Helper()
	assert.Equal(t, 1, p.AwaitExit())
	assert.Contains(t, p.lastLine(), how)
	assert.Contains(t, p.lastLine(), "--allow-second-controller")
	assert.NotContains(t, p.Output(), "store is filled")
}

// alive are the arguments of a kube-controller-manager whose Lease stays valid through a pause of
// the machine.
var alive = []string{"--leader-elect=true", "--leader-elect-lease-duration=20m", "--leader-elect-renew-deadline=15m"}

// secondPossible is the start of orrery's message when kube-controller-manager's Lease is the only
// evidence.
const secondPossible = "orrery: this cluster may have an active namespace controller: kube-controller-manager is " +
	"alive, its Lease kube-system/kube-controller-manager was renewed at "

func (tr *trial) awaitManagersLease() {
	tr.t.Helper()
	tr.eventually("kube-controller-manager has its Lease", func() (bool, error) {
		_, err := tr.client.CoordinationV1().Leases("kube-system").Get(tr.ctx, controlplane.ControllerManager,
			metav1.GetOptions{})
		return err == nil, err
	})
}

// Beside kube-controller-manager with its namespace controller on, orrery refuses to start, by
// reading alone. The test does not run in parallel: it holds only if kube-controller-manager works
// within seconds.
func TestRefusesToStartBesideBuiltIn(t *testing.T) {
	tr := onControlPlane(t, controlplane.Config{NamespaceController: true, ControllerManagerArgs: alive})
	admin, leastRights := tr.cluster.Kubeconfig(), tr.leastRights()
	tr.awaitManagersLease()

	// Its Lease is the only evidence, with more rights too.
	for _, kubeconfig := range []string{admin, leastRights} {
		requireRefused(t, runOrrery(t, kubeconfig), secondPossible)
	}
	p := runOrrery(t, admin, "--dry-run")
	p.AwaitOutput("WARN", "another controller of this kind may be active, without --dry-run this would not start")
	p.AwaitOutput("store is filled")
	p.Kill()

	// With the flag orrery starts without a probe.
	p = runOrrery(t, admin, "--allow-second-controller")
	p.AwaitOutput("store is filled")
	assert.NotContains(t, p.Output(), "another namespace controller")
	p.Kill()

	// The conditions of a namespace that hangs name their writer for a while after each report.
	left := 60
	tr.createNamespace("hanging")
	for i := range left {
		tr.createConfigMap("hanging", fmt.Sprintf("held-%02d", i), holdingFinalizer)
	}
	tr.deleteNamespace("hanging")
	tr.awaitCondition("hanging", corev1.NamespaceFinalizersRemaining)
	reportAnew := func() {
		left--
		tr.free(configMaps, "hanging", fmt.Sprintf("held-%02d", left))
		tr.wake("hanging")
		tr.awaitMessage("hanging", corev1.NamespaceContentRemaining,
			fmt.Sprintf("Some resources are remaining: configmaps. has %d resource instances", left))
	}
	named := func(p *program) bool { return p.printed([]string{"wrote the status of the namespace hanging"}) }
	p = inTime(t, func() *program { return runOrrery(t, leastRights) }, named, reportAnew)
	requireRefused(t, p, secondRefused+"kube-controller-manager wrote the status of the namespace hanging")
	inTime(t, func() *program { return runOrrery(t, leastRights, "--dry-run") }, func(p *program) bool {
		return p.printed([]string{"WARN", "another controller of this kind is active", "hanging"})
	}, reportAnew)
}

// The evidence of kube-controller-manager: its Lease shows that it is alive, its pod has its
// command line.
func TestRecognisesControllerManager(t *testing.T) {
	t.Parallel()
	tr := onControlPlane(t, controlplane.Config{FakeNodes: 1, ControllerManagerArgs: alive})
	leastRights := tr.leastRights()
	tr.awaitManagersLease()
	requireRefused(t, runOrrery(t, leastRights), secondPossible)

	tr.runManager("off", "--leader-elect=true", "--controllers=*,-namespace-controller")
	for _, kubeconfig := range []string{leastRights, tr.cluster.Kubeconfig()} {
		p := runOrrery(t, kubeconfig)
		p.AwaitOutput("no other controller of this kind is active", "in the pod kube-system/off runs without its own")
		p.AwaitOutput("store is filled")
		p.Kill()
	}

	tr.runManager("on", "--leader-elect=true")
	requireRefused(t, runOrrery(t, leastRights),
		secondRefused+"kube-controller-manager in the pod kube-system/on runs its own")
}

// runManager creates a pod like kube-controller-manager's and waits until it is ready.
func (tr *trial) runManager(name string, args ...string) {
	tr.t.Helper()
	pods := tr.client.CoreV1().Pods("kube-system")
	pod := newPod(name, "1s", 1, nil)
	pod.Labels = map[string]string{"component": controlplane.ControllerManager}
	pod.Spec.Containers[0].Command = append([]string{controlplane.ControllerManager}, args...)
	tr.createPod("kube-system", pod)
	_, err := pods.Patch(tr.ctx, name, types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`), metav1.PatchOptions{}, "status")
	require.NoError(tr.t, err)
}

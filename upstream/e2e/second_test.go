package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"orrery/upstream/controlplane"
)

// secondRefused begins what orrery says when it does not start because of another namespace controller.
const secondRefused = "orrery: this cluster has a namespace controller that works: "

// onControlPlane returns a trial on a control plane of the test's own, and the kubeconfig of a user with the rights of the built-in
// namespace controller.
func onControlPlane(t *testing.T, config controlplane.Config) (tr *trial, leastRights string) {
	t.Helper()
	config.Log = t.Output()
	cp, err := controlplane.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cp.Stop()) })
	leastRights, err = cp.KubeconfigFor(ControllerIdentity)
	require.NoError(t, err)
	return newTrial(t, &Cluster{Server: cp, subject: Orrery()}, endState{}), leastRights
}

// inTime runs orrery again and again until it has seen what there is to be seen. It looks for what others do within some
// seconds, and goes on if there was nothing: on a busy machine they need longer. again makes the next try one with a chance.
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

// requireRefused waits for a program that must not start, and checks what it says in its last line.
func requireRefused(t *testing.T, p *program, how string) {
	t.Helper()
	assert.Equal(t, 1, p.AwaitExit())
	lines := strings.Split(strings.TrimSpace(p.Output()), "\n")
	last := lines[len(lines)-1]
	assert.Contains(t, last, how)
	assert.Contains(t, last, "--allow-second-controller")
	assert.NotContains(t, p.Output(), "store is filled")
}

// probes are the namespaces that orrery made to find out.
func (tr *trial) probes() []string {
	tr.t.Helper()
	list, err := tr.client.CoreV1().Namespaces().List(tr.ctx, metav1.ListOptions{})
	require.NoError(tr.t, err)
	var names []string
	for _, namespace := range list.Items {
		if strings.HasPrefix(namespace.Name, "orrery-probe-") {
			names = append(names, namespace.Name)
		}
	}
	return names
}

// Beside kube-controller-manager with its namespace controller on, orrery does not start. This is not run beside other tests:
// what it asserts holds only if kube-controller-manager does its work within seconds.
func TestRefusesToStartBesideBuiltIn(t *testing.T) {
	tr, leastRights := onControlPlane(t, controlplane.Config{NamespaceController: true})
	admin := tr.cluster.Kubeconfig()

	ended := func(p *program) bool { return !p.Running() }
	probesGone := func() {
		tr.eventually("the built-in one takes the probe down", func() (bool, error) { return len(tr.probes()) == 0, nil })
	}

	// Nothing shows, so it tries. What it says comes before the wait.
	p := inTime(t, func() *program { return runOrrery(t, admin) }, ended, probesGone)
	p.RequireOutput("finding out whether another namespace controller works", "orrery-probe-")
	requireRefused(t, p, secondRefused+"somebody took the namespace orrery-probe-")
	probesGone()

	// Who may not try, or does not want anything to be written, does not.
	for _, p := range []*program{runOrrery(t, leastRights), runOrrery(t, admin, "--dry-run")} {
		p.AwaitOutput("whether another namespace controller works cannot be seen, going on")
		p.AwaitOutput("store is filled")
		p.Kill()
	}
	assert.Empty(t, tr.probes())

	// Who is told to, starts, and looks for nothing.
	p = runOrrery(t, admin, "--allow-second-controller")
	p.AwaitOutput("store is filled")
	assert.NotContains(t, p.Output(), "another namespace controller")
	p.Kill()

	// A namespace that hangs shows who is at it, to everybody who may see it, for a while after each report.
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
	p = inTime(t, func() *program { return runOrrery(t, leastRights) }, ended, reportAnew)
	requireRefused(t, p, secondRefused+"kube-controller-manager wrote the status of the namespace hanging")
	inTime(t, func() *program { return runOrrery(t, leastRights, "--dry-run") }, func(p *program) bool {
		return p.printed([]string{"WARN", "another namespace controller works", "hanging"})
	}, reportAnew)
}

// What can be seen of kube-controller-manager: its Lease, by which it is alive, and its pod, which has its command line.
func TestSeesWhatControllerManagerDoes(t *testing.T) {
	t.Parallel()
	tr, leastRights := onControlPlane(t, controlplane.Config{FakeNodes: 1, ControllerManagerArgs: []string{
		// It is alive, and seen to be, also when it is not let run for a while.
		"--leader-elect=true", "--leader-elect-lease-duration=20m", "--leader-elect-renew-deadline=15m",
	}})
	tr.eventually("kube-controller-manager has its Lease", func() (bool, error) {
		_, err := tr.client.CoordinationV1().Leases("kube-system").Get(tr.ctx, controlplane.ControllerManager, metav1.GetOptions{})
		return err == nil, err
	})
	requireRefused(t, runOrrery(t, leastRights), "orrery: this cluster may have a namespace controller that works: kube-controller-manager is alive, its Lease kube-system/kube-controller-manager was renewed at ")

	// Who may try finds out that there is none, and takes its probe down itself.
	p := runOrrery(t, tr.cluster.Kubeconfig())
	p.AwaitOutput("no other namespace controller works", "nobody took the namespace orrery-probe-")
	tr.eventually("orrery takes the probe down", func() (bool, error) { return len(tr.probes()) == 0, nil })
	p.Kill()

	tr.runManager("off", "--leader-elect=true", "--controllers=*,-namespace-controller")
	for _, kubeconfig := range []string{leastRights, tr.cluster.Kubeconfig()} {
		p := runOrrery(t, kubeconfig)
		p.AwaitOutput("no other namespace controller works", "in the pod kube-system/off runs without its own")
		p.AwaitOutput("store is filled")
		p.Kill()
	}
	assert.Empty(t, tr.probes(), "there was no need to try")

	tr.runManager("on", "--leader-elect=true")
	requireRefused(t, runOrrery(t, leastRights), secondRefused+"kube-controller-manager in the pod kube-system/on runs its own")
}

// runManager makes a pod that looks like the one that a kubelet shows of kube-controller-manager, and waits until it is ready.
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

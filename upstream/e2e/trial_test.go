package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/yaml"
)

// waitTimeout is how long a test waits before it fails. It covers the back-off after a dozen
// failures on a machine that gives us a tenth of its time.
const waitTimeout = 10 * time.Minute

// trial is one scenario with one subject. Only the test's goroutine may call its methods, as with
// t.FailNow.
type trial struct {
	t       *testing.T
	ctx     context.Context
	cluster *Cluster        // empty on the server in memory
	dead    <-chan struct{} // closed when the server has ended by itself
	client  kubernetes.Interface
	dynamic dynamic.Interface

	state endState
}

// parallelize calls do for 0 to n-1, some at a time, and ends the test when a call fails.
func (tr *trial) parallelize(n int, do func(i int) error) {
	tr.t.Helper()
	errs := make([]error, n)
	workqueue.ParallelizeUntil(tr.ctx, 8, n, func(i int) { errs[i] = do(i) })
	require.NoError(tr.t, errors.Join(append(errs, tr.ctx.Err())...))
}

func newTrial(t *testing.T, cluster *Cluster, state endState) *trial {
	client, dynamic := clientsFor(t, cluster.Kubeconfig())
	return &trial{
		t: t, ctx: t.Context(), cluster: cluster, dead: cluster.Failed(),
		client: client, dynamic: dynamic, state: state,
	}
}

// leastRights returns the kubeconfig file of a user with the rights of the built-in namespace
// controller.
func (tr *trial) leastRights() string {
	tr.t.Helper()
	kubeconfig, err := tr.cluster.KubeconfigFor(ControllerIdentity)
	require.NoError(tr.t, err)
	return kubeconfig
}

// in returns the trial for a subtest.
func (tr *trial) in(t *testing.T) *trial {
	of := *tr
	of.t, of.ctx = t, t.Context()
	return &of
}

// kubectl runs a command line of kubectl as the administrator, and returns what it prints. What it
// reads follows the first line.
func (tr *trial) kubectl(command string) string {
	tr.t.Helper()
	return kubectl(tr.t, tr.cluster.Kubeconfig(), command)
}

func kubectl(t *testing.T, kubeconfig, command string) string {
	t.Helper()
	line, input, _ := strings.Cut(command, "\n")
	run := exec.Command(repositoryFile(t, "bin/kubectl"), strings.Fields(line)...)
	run.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	run.Stdin = strings.NewReader(input)
	said, err := run.CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", line, said)
	return string(said)
}

// clientsFor returns clients for the user of a kubeconfig file.
func clientsFor(t *testing.T, kubeconfig string) (kubernetes.Interface, dynamic.Interface) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	config.QPS = -1                           // the tests' own requests must not be the bottleneck
	config.WarningHandler = rest.NoWarnings{} // deprecated types are listed on purpose
	config.ContentType = "application/json"   // the same for built-in and custom types
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	dynamic, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client, dynamic
}

// eventually blocks until probe returns true. An error means "not yet", because servers restart
// here; the last one is reported when the wait times out. A dead control plane or subject ends the
// wait.
func (tr *trial) eventually(what string, probe func() (bool, error)) {
	tr.t.Helper()
	eventually(tr.t, what, tr.dead, func() (bool, error) {
		tr.t.Helper()
		if controller := tr.cluster.Controller(); controller != nil {
			require.NoError(tr.t, controller.Err(), "while waiting until "+what)
		}
		return probe()
	})
}

func eventually(t *testing.T, what string, dead <-chan struct{}, probe func() (bool, error)) {
	t.Helper()
	deadline := time.NewTimer(waitTimeout)
	defer deadline.Stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		ok, err := probe()
		if err == nil && ok {
			return
		}
		select {
		case <-ticker.C:
		case <-dead:
			if ok, err := probe(); err == nil && ok {
				return // just before the end
			}
			require.Fail(t, "a component died while waiting until "+what)
		case <-deadline.C:
			require.Fail(t, "timed out waiting until "+what, "last answer: %v, %v", ok, err)
		}
	}
}

// createNamespace creates a namespace and waits for its default content: a service account and the
// CA bundle. The finalizers go into its spec. A failed test logs the namespace.
func (tr *trial) createNamespace(name string, finalizers ...corev1.FinalizerName) types.UID {
	tr.t.Helper()
	namespace := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NamespaceSpec{Finalizers: finalizers},
	}
	created, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.t.Cleanup(func() { tr.explainFailure(name) })
	tr.awaitDefaults(name)
	return created.UID
}

// awaitDefaults waits for what the control plane puts into a new namespace, which could otherwise
// appear before or after the content is counted.
func (tr *trial) awaitDefaults(namespace string) {
	tr.t.Helper()
	tr.eventually("namespace "+namespace+" has its service account and CA bundle", func() (bool, error) {
		if _, err := tr.client.CoreV1().ServiceAccounts(namespace).Get(tr.ctx, "default",
			metav1.GetOptions{}); err != nil {
			return false, err
		}
		_, err := tr.client.CoreV1().ConfigMaps(namespace).Get(tr.ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, err
	})
}

// deleteNamespace marks the namespace for deletion, which the subject then carries out.
func (tr *trial) deleteNamespace(name string) {
	tr.t.Helper()
	require.NoError(tr.t, tr.client.CoreV1().Namespaces().Delete(tr.ctx, name, metav1.DeleteOptions{}))
}

// awaitGone waits until a namespace is gone and checks that nothing of it is left in the server's
// store.
func (tr *trial) awaitGone(name string) {
	tr.t.Helper()
	tr.eventually("namespace "+name+" is gone", func() (bool, error) {
		_, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	require.Empty(tr.t, tr.content(name), "objects left of namespace %s", name)
	tr.state.note(name, "is gone and has left nothing behind")
}

// explainFailure logs the namespace and the subject's output if the test has failed.
func (tr *trial) explainFailure(namespace string) {
	if !tr.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tr.ctx), 10*time.Second)
	defer cancel()
	if object, err := tr.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{}); err != nil {
		tr.t.Logf("namespace %s: %v", namespace, err)
	} else {
		object.ManagedFields = nil
		text, err := yaml.Marshal(object)
		tr.t.Logf("namespace %s (%v):\n%s", namespace, err, text)
	}
	if tr.cluster.Controller() == nil {
		return // the test runs the controller itself and shows its output
	}
	tr.t.Logf("the controller's log about %s:\n%s", namespace, tr.saidAbout(namespace))
	tr.t.Logf("the end of its log:\n%s", tr.cluster.Controller().Tail())
}

// saidAbout returns the last lines of the subject's log that mention a namespace.
func (tr *trial) saidAbout(namespace string) string {
	const most = 40
	data, err := os.ReadFile(tr.cluster.LogFile(tr.cluster.subject.Name))
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, namespace) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "")
}

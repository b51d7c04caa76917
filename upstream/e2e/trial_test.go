package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"orrery/upstream/controlplane"
)

// patience is how long a test waits for anything before it fails. It is far longer than anything takes: back-off after
// a dozen failures included, and a machine that has a tenth of its time for us.
const patience = 10 * time.Minute

// trial is one scenario with one subject. Its methods belong to the goroutine of the test, as t's Fail-methods do.
type trial struct {
	t       *testing.T
	ctx     context.Context
	cluster *Cluster
	client  kubernetes.Interface
	dynamic dynamic.Interface
	hinder  hindrances

	state endState
}

// controlPlane is the genuine server, for scenarios that need what only that has. They are listed in genuineOnly.
func (tr *trial) controlPlane() *controlplane.ControlPlane {
	tr.t.Helper()
	cp, ok := tr.cluster.Server.(*controlplane.ControlPlane)
	require.True(tr.t, ok, "the scenario needs the genuine server and has to be listed in genuineOnly")
	return cp
}

// tryEach runs a scenario and compares what it came to with what the original came to on the genuine server. With
// wholeMatrix it runs on every platform with every subject, side by side, and all of them are compared. The differences
// that are intended are those that intendedDifferences and platformDifferences list for the test; a scenario that is
// listed in genuineOnly runs on the genuine server alone.
func tryEach(t *testing.T, where venue, scenario func(*trial)) {
	outcomes := map[pairing]endState{}
	for _, platform := range platformsFor(t.Name()) {
		for _, subject := range subjectsNow() {
			p := pairing{platform.Name, subject.Name}
			state := endState{}
			outcomes[p] = state
			t.Run(p.String(), func(t *testing.T) {
				t.Parallel()
				scenario(newTrial(t, where(t, platform, subject), state))
			})
		}
	}
	// Cleanups of a test run after its parallel parts have ended.
	t.Cleanup(func() {
		t.Logf("what it came to with orrery on %s:\n%s", Kubernetes().Name, outcomes[pairing{Kubernetes().Name, Orrery().Name}])
		if t.Failed() {
			return
		}
		checkRecord(t, outcomes)
		for _, problem := range compareAll(t.Name(), outcomes) {
			t.Error(problem)
		}
	})
}

// checkRecord puts what was recorded of the original on the genuine server in the place of a run of it that did not take
// place. One that did is compared with the record, or makes it anew.
func checkRecord(t *testing.T, outcomes map[pairing]endState) {
	original := pairing{Kubernetes().Name, BuiltIn().Name}
	switch found := outcomes[original]; {
	case len(found) == 0:
		outcomes[original] = recorded(t, t.Name())
	case recording:
		record(t, t.Name(), found)
	default:
		assert.Equal(t, recorded(t, t.Name()), found, "the record of the original is out of date: E2E_MATRIX=whole E2E_RECORD=1 makes it anew")
	}
}

// sideBySide calls do for 0 to n-1, some at a time, and ends the test when one of the calls fails.
func (tr *trial) sideBySide(n int, do func(i int) error) {
	tr.t.Helper()
	slots := make(chan struct{}, 8)
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	running.Wait()
	require.NoError(tr.t, errors.Join(errs...))
}

func newTrial(t *testing.T, cluster *Cluster, state endState) *trial {
	client, dynamic := clientsFor(t, cluster.Kubeconfig())
	tr := &trial{t: t, ctx: t.Context(), cluster: cluster, client: client, dynamic: dynamic, state: state}
	tr.hinder = hindrancesOf(tr)
	return tr
}

// clientsFor returns clients for the user of a kubeconfig file.
func clientsFor(t *testing.T, kubeconfig string) (kubernetes.Interface, dynamic.Interface) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	config.QPS = -1                         // the tests' own requests must not be what takes time
	config.WarningHandler = noWarnings{}    // deprecated types are listed on purpose, like all others
	config.ContentType = "application/json" // the same for built-in and custom types
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	dynamic, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client, dynamic
}

type noWarnings struct{}

func (noWarnings) HandleWarningHeader(int, string, string) {}

// eventually waits until probe says yes. An error means "not yet", because servers are restarted here, and is told
// when the wait ends in vain. When the control plane or the subject has died there is nothing to wait for.
func (tr *trial) eventually(what string, probe func() (bool, error)) {
	tr.t.Helper()
	eventually(tr.t, what, tr.cluster.Failed(), func() (bool, error) {
		tr.t.Helper()
		if controller := tr.cluster.Controller(); controller != nil {
			require.NoError(tr.t, controller.Err(), "while waiting until "+what)
		}
		return probe()
	})
}

func eventually(t *testing.T, what string, dead <-chan struct{}, probe func() (bool, error)) {
	t.Helper()
	deadline := time.NewTimer(patience)
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
			require.Fail(t, "waited in vain until "+what, "last answer: %v, %v", ok, err)
		}
	}
}

// createNamespace creates a namespace with the content that every namespace gets: a service account and the CA bundle.
// Further finalizers are put into its spec. When the test fails, it shows the namespace.
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

// awaitDefaults waits for what the control plane puts into a new namespace. Without it, that content would appear now
// in time to be counted and now not.
func (tr *trial) awaitDefaults(namespace string) {
	tr.t.Helper()
	tr.eventually("namespace "+namespace+" has its service account and CA bundle", func() (bool, error) {
		if _, err := tr.client.CoreV1().ServiceAccounts(namespace).Get(tr.ctx, "default", metav1.GetOptions{}); err != nil {
			return false, err
		}
		_, err := tr.client.CoreV1().ConfigMaps(namespace).Get(tr.ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, err
	})
}

// deleteNamespace asks for the deletion that the subject then does.
func (tr *trial) deleteNamespace(name string) {
	tr.t.Helper()
	require.NoError(tr.t, tr.client.CoreV1().Namespaces().Delete(tr.ctx, name, metav1.DeleteOptions{}))
}

// awaitGone waits for a namespace to be gone and checks that it left nothing behind in the server's store.
func (tr *trial) awaitGone(name string) {
	tr.t.Helper()
	tr.eventually("namespace "+name+" is gone", func() (bool, error) {
		_, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	require.Empty(tr.t, tr.content(name), "what namespace %s left behind", name)
	tr.state.note(name, "is gone and has left nothing behind")
}

// explainFailure logs the namespace as it is and what the subject said, when the test has failed.
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
		return // the test runs the controller itself, and shows what that said
	}
	tr.t.Logf("what the controller said about %s:\n%s", namespace, tr.saidAbout(namespace))
	tr.t.Logf("the last that it said:\n%s", tr.cluster.Controller().Tail())
}

// saidAbout returns the last lines of the subject's log in which a namespace occurs.
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

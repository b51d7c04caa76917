package controlplane

import (
	"context"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// These tests run the genuine components in bin/controlplane.

// waitTimeout is reached only by a failing test.
const waitTimeout = 10 * time.Minute

// launchForTest starts a control plane. At the end of the test it must not have failed, and is
// stopped.
func launchForTest(t *testing.T, config Config) *ControlPlane {
	t.Helper()
	config.Log = t.Output()
	cp, err := Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cp.Stop()) })
	return cp
}

func clientFor(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// eventually waits until a condition holds.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, waitTimeout, pollInterval, what)
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// TestControlPlane runs the checks that do not disturb the control plane.
func TestControlPlane(t *testing.T) {
	cp := launchForTest(t, Config{
		FakeNodes:   2,
		AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n",
	})
	client := clientFor(t, cp.Kubeconfig())

	t.Run("all components run", func(t *testing.T) {
		pids := cp.PIDs()
		for _, name := range []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok} {
			assert.Contains(t, pids, name)
			assert.FileExists(t, cp.LogFile(name))
		}
	})
	t.Run("the version is stamped", func(t *testing.T) {
		version, err := client.Discovery().ServerVersion()
		require.NoError(t, err)
		assert.Regexp(t, `^v1\.\d+\.\d+$`, version.GitVersion)
		assert.True(t, strings.HasPrefix(version.GitVersion, "v"+version.Major+"."+version.Minor+"."), "%v", version)
	})
	t.Run("the default namespace is usable at once", func(t *testing.T) {
		_, err := client.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		require.NoError(t, err)
	})
	t.Run("a user without roles may do nothing", func(t *testing.T) { testStranger(t, cp) })
	t.Run("a pod runs and vanishes", func(t *testing.T) { testPod(t, client) })
	t.Run("a pod takes its time to vanish", func(t *testing.T) { testPodDeletionDelay(t, client) })
	t.Run("an APIService that points nowhere fails discovery", func(t *testing.T) { testBrokenAPIService(t, client) })
	t.Run("an admission policy denies a delete", func(t *testing.T) { testAdmissionPolicy(t, client) })
	t.Run("the audit log names user and request", func(t *testing.T) {
		data, err := os.ReadFile(cp.AuditLog())
		require.NoError(t, err)
		assert.Contains(t, string(data), `"username":"admin"`)
	})
	t.Run("a second API server is refused", func(t *testing.T) {
		assert.Error(t, cp.StartAPIServer(t.Context()))
	})
}

func testStranger(t *testing.T, cp *ControlPlane) {
	stranger, err := cp.KubeconfigFor("system:serviceaccount:somewhere:jane", "readers")
	require.NoError(t, err)
	_, err = clientFor(t, stranger).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	master, err := cp.KubeconfigFor("system:serviceaccount:somewhere:jane", "system:masters")
	require.NoError(t, err)
	assert.NotEqual(t, stranger, master, "each call writes a new file")
	_, err = clientFor(t, master).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// runPod creates a pod and waits until it runs.
func runPod(t *testing.T, client *kubernetes.Clientset, name string, annotations map[string]string) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	_, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, func() bool {
		pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning && pod.Spec.NodeName != ""
	}, "the pod runs on a fake node")
}

// podGone waits until a pod has vanished.
func podGone(t *testing.T, client *kubernetes.Clientset, name string) {
	t.Helper()
	eventually(t, func() bool {
		_, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, "the pod vanishes")
}

func testPod(t *testing.T, client *kubernetes.Clientset) {
	runPod(t, client, "quick", nil)
	require.NoError(t, client.CoreV1().Pods("default").Delete(t.Context(), "quick", metav1.DeleteOptions{}))
	podGone(t, client, "quick")
}

// The slow pod is deleted before the quick one, and is still there when the quick one has vanished.
func testPodDeletionDelay(t *testing.T, client *kubernetes.Clientset) {
	ctx, pods := t.Context(), client.CoreV1().Pods("default")
	runPod(t, client, "slow", map[string]string{PodDeletionDelay: "1h"})
	require.NoError(t, pods.Delete(ctx, "slow", metav1.DeleteOptions{}))
	runPod(t, client, "quick", nil)
	require.NoError(t, pods.Delete(ctx, "quick", metav1.DeleteOptions{}))
	podGone(t, client, "quick")

	pod, err := pods.Get(ctx, "slow", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotNil(t, pod.DeletionTimestamp)
	require.NoError(t, pods.Delete(ctx, "slow", *metav1.NewDeleteOptions(0)))
	podGone(t, client, "slow")
}

func testBrokenAPIService(t *testing.T, client *kubernetes.Clientset) {
	const service = `{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": {"name": "v1.nowhere.example.com"},
		"spec": {"group": "nowhere.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
			"insecureSkipTLSVerify": true, "service": {"name": "nothing", "namespace": "default"}}}`
	post := client.RESTClient().Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices")
	require.NoError(t, post.SetHeader("Content-Type", "application/json").Body([]byte(service)).Do(t.Context()).Error())
	t.Cleanup(func() {
		path := "/apis/apiregistration.k8s.io/v1/apiservices/v1.nowhere.example.com"
		assert.NoError(t, client.RESTClient().Delete().AbsPath(path).Do(context.Background()).Error())
	})
	broken := schema.GroupVersion{Group: "nowhere.example.com", Version: "v1"}
	eventually(t, func() bool {
		lists, err := client.Discovery().ServerPreferredResources()
		failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err)
		return ok && failed[broken] != nil && len(failed) == 1 && len(lists) > 10
	}, "discovery names the failing group and lists the others")
}

func testAdmissionPolicy(t *testing.T, client *kubernetes.Clientset) {
	ctx := t.Context()
	maps := client.CoreV1().ConfigMaps("default")
	_, err := maps.Create(ctx, configMap("kept", map[string]string{"keep": "true"}), metav1.CreateOptions{})
	require.NoError(t, err)
	fail, deny := admissionv1.Fail, []admissionv1.ValidationAction{admissionv1.Deny}
	_, err = client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "keep"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: `!("keep" in oldObject.metadata.?labels.orValue({}))`}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "keep"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "keep", ValidationActions: deny},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	eventually(t, func() bool {
		return apierrors.IsInvalid(maps.Delete(ctx, "kept", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
	}, "the policy is in force")
	require.Error(t, maps.Delete(ctx, "kept", metav1.DeleteOptions{}))
	_, err = maps.Create(ctx, configMap("other", nil), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, maps.Delete(ctx, "other", metav1.DeleteOptions{}))
}

func TestNamespaceController(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		runs   bool
	}{
		"off by default": {},
		"on":             {config: Config{NamespaceController: true}, runs: true},
	} {
		t.Run(name, func(t *testing.T) {
			cp := launchForTest(t, test.config)
			client := clientFor(t, cp.Kubeconfig())
			_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}, metav1.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}))
			if test.runs {
				eventually(t, func() bool {
					_, err := client.CoreV1().Namespaces().Get(t.Context(), "doomed", metav1.GetOptions{})
					return apierrors.IsNotFound(err)
				}, "the namespace vanishes")
			}
			// A running controller has a service account; one that never started has none.
			_, err = client.CoreV1().ServiceAccounts("kube-system").Get(t.Context(), "namespace-controller", metav1.GetOptions{})
			assert.Equal(t, !test.runs, apierrors.IsNotFound(err), "%v", err)
			_, err = client.CoordinationV1().Leases("kube-system").Get(t.Context(), ControllerManager, metav1.GetOptions{})
			assert.Equal(t, !test.runs, apierrors.IsNotFound(err), "its Lease reveals it: %v", err)
		})
	}
}

// TestAPIServerComesAndGoes restarts and kills the server and compacts its history.
func TestAPIServerComesAndGoes(t *testing.T) {
	cp := launchForTest(t, Config{})
	ctx, server := t.Context(), cp.Server()
	maps := clientFor(t, cp.Kubeconfig()).CoreV1().ConfigMaps("default")
	created, err := maps.Create(ctx, configMap("first", nil), metav1.CreateOptions{})
	require.NoError(t, err)
	fromCreation := metav1.ListOptions{ResourceVersion: created.ResourceVersion}
	open, err := maps.Watch(ctx, fromCreation)
	require.NoError(t, err)
	defer open.Stop()

	require.NoError(t, cp.RestartAPIServer(ctx))
	for event := range open.ResultChan() { // the server has ended the watch
		assert.NotEqual(t, watch.Error, event.Type, "the watch ended cleanly")
	}
	_, err = maps.Create(ctx, configMap("second", nil), metav1.CreateOptions{})
	require.NoError(t, err, "the same client reaches it")

	cp.KillAPIServer()
	assert.NotContains(t, cp.PIDs(), APIServer)
	_, err = maps.Get(ctx, "first", metav1.GetOptions{})
	require.Error(t, err)
	require.NoError(t, cp.StartAPIServer(ctx))
	_, err = maps.Get(ctx, "second", metav1.GetOptions{})
	require.NoError(t, err, "etcd has kept the object")

	require.NoError(t, cp.ForgetHistory(ctx))
	resumed, err := maps.Watch(ctx, fromCreation)
	require.NoError(t, err, "the refusal comes as an event")
	defer resumed.Stop()
	event := <-resumed.ResultChan()
	assert.Equal(t, watch.Error, event.Type)
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(event.Object)), "%v", event.Object)
	cp.KillControllerManager()
	assert.NotContains(t, cp.PIDs(), ControllerManager)
	require.NoError(t, cp.StartControllerManager(ctx))
	assert.Contains(t, cp.PIDs(), ControllerManager)
	assert.Equal(t, server, cp.Server())
	assert.NoError(t, cp.Err(), "a requested end is not a failure")
}

func TestCompactEtcd(t *testing.T) {
	cp := launchForTest(t, Config{DisableWatchCache: true})
	ctx := t.Context()
	maps := clientFor(t, cp.Kubeconfig()).CoreV1().ConfigMaps("default")
	created, err := maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Patch(ctx, "one", types.MergePatchType, []byte(`{"data": {"a": "b"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	old := metav1.ListOptions{ResourceVersion: created.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	_, err = maps.List(ctx, old)
	require.NoError(t, err)

	revision, err := cp.CompactEtcd(ctx)
	require.NoError(t, err)
	assert.Positive(t, revision)
	_, err = maps.List(ctx, old)
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	again, err := cp.CompactEtcd(ctx)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, again, revision)
}

func TestComponentThatDies(t *testing.T) {
	cp, err := Start(t.Context(), Config{Log: t.Output()})
	require.NoError(t, err)
	defer cp.Stop()
	require.NoError(t, syscall.Kill(cp.PIDs()[ControllerManager], syscall.SIGKILL))
	<-cp.Failed()

	var exit *ExitError
	require.ErrorAs(t, cp.Err(), &exit)
	assert.Equal(t, ControllerManager, exit.Name)
	assert.NotEmpty(t, exit.Tail)
	assert.ErrorAs(t, cp.Stop(), &exit, "Stop returns the unexpected exit")
}

func TestStopLeavesNothing(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	cp, err := Start(t.Context(), Config{FakeNodes: 1, Log: t.Output()})
	require.NoError(t, err)
	pids := cp.PIDs()
	require.Len(t, pids, 5)
	require.NoError(t, cp.Stop())

	for name, pid := range pids {
		assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, name)
	}
	assert.Empty(t, cp.PIDs())
	assert.NoDirExists(t, cp.Dir())
	assert.NoError(t, cp.Stop(), "stopping twice is harmless")
	goleak.VerifyNone(t, leaks)
}

func TestStartThatFails(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := Start(t.Context(), Config{APIServerArgs: []string{"--no-such-flag"}, Log: t.Output()})
	var exit *ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, APIServer, exit.Name)
	assert.Contains(t, exit.Tail, "no-such-flag")

	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, entries, "nothing is left behind")
	goleak.VerifyNone(t, leaks)
}

func TestStartThatIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, Config{Log: t.Output()})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestDirIsKeptAndMustBeEmpty(t *testing.T) {
	dir := t.TempDir()
	cp, err := Start(t.Context(), Config{Dir: dir, Log: t.Output()})
	require.NoError(t, err)
	require.NoError(t, cp.Stop())
	assert.FileExists(t, cp.LogFile(APIServer))
	assert.FileExists(t, cp.Kubeconfig())

	_, err = Start(t.Context(), Config{Dir: dir, Log: t.Output()})
	assert.ErrorContains(t, err, dir)
}

// A certificate of another authority grants nothing, whatever user it names.
func TestForeignCertificateIsAnonymous(t *testing.T) {
	cp := launchForTest(t, Config{})
	stranger, err := newAuthority("stranger")
	require.NoError(t, err)
	pair, err := stranger.client("admin", "system:masters")
	require.NoError(t, err)
	e, err := newEndpoint(cp.Server(), cp.cluster.certPEM, pair)
	require.NoError(t, err)

	var status *statusError
	require.ErrorAs(t, e.get(t.Context(), "/api/v1/namespaces", nil), &status)
	assert.Equal(t, http.StatusForbidden, status.code)
	assert.Contains(t, status.body, "system:anonymous")
}

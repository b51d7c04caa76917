package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"orrery/internal/app/program/programtest"
	"orrery/upstream/controlplane"
)

// The names that deploy/ uses.
const (
	deployedNamespace = "kube-system"
	deployedName      = "orrery"
)

// onDeployment returns a trial on a control plane of its own that rolls out Deployments.
func onDeployment(t *testing.T) *trial {
	t.Helper()
	controllers := append(controlplane.DefaultControllers(),
		"deployment-controller", "replicaset-controller", "disruption-controller")
	return onControlPlane(t, controlplane.Config{FakeNodes: 2, Controllers: controllers})
}

// kubectl applies the manifests, twice if need be, and the pods appear. A namespace that enforces
// the strictest pod security standard admits them.
func TestManifestsAreAccepted(t *testing.T) {
	t.Parallel()
	tr := onDeployment(t)
	deploy := filepath.Dir(repositoryFile(t, filepath.Join("deploy", "kustomization.yaml")))

	said := tr.kubectl("apply --dry-run=server --validate=strict -k " + deploy)
	assert.NotContains(t, strings.ToLower(said), "warning")
	said = tr.kubectl("apply --validate=strict -k " + deploy)
	assert.Equal(t, strings.Count(said, "\n"), strings.Count(said, " created\n"), said)
	before := tr.deployment().Generation
	said = tr.kubectl("apply -k " + deploy)
	assert.NotContains(t, said, " created\n")
	assert.Contains(t, said, "deployment.apps/orrery unchanged\n")
	assert.Equal(t, before, tr.deployment().Generation, "applying again rolls nothing out")

	tr.kubectl("-n " + deployedNamespace + " rollout status deployment/" + deployedName + " --timeout=" +
		waitTimeout.String())
	pods, err := tr.client.CoreV1().Pods(deployedNamespace).List(tr.ctx,
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=orrery"})
	require.NoError(t, err)
	require.Len(t, pods.Items, 2)
	assert.NotEqual(t, pods.Items[0].Spec.NodeName, pods.Items[1].Spec.NodeName, "the replicas keep apart")
	assert.Equal(t, int32(2_000_000_000), ptr.Deref(pods.Items[0].Spec.Priority, 0),
		"as critical as the cluster's components")
	tr.eventually("the budget lets one pod be evicted at a time", func() (bool, error) {
		budget, err := tr.client.PolicyV1().PodDisruptionBudgets(deployedNamespace).Get(tr.ctx, deployedName,
			metav1.GetOptions{})
		return err == nil && budget.Status.DisruptionsAllowed == 1, err
	})

	template := tr.deployment().Spec.Template
	tr.requireRestricted(template)
	// kubectl delete removes everything that kubectl apply created.
	tr.kubectl("delete --wait=false -k " + deploy)
	_, err = tr.client.CoreV1().ServiceAccounts(deployedNamespace).Get(tr.ctx, deployedName, metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}

func (tr *trial) deployment() *appsv1.Deployment {
	tr.t.Helper()
	deployment, err := tr.client.AppsV1().Deployments(deployedNamespace).Get(tr.ctx, deployedName, metav1.GetOptions{})
	require.NoError(tr.t, err)
	return deployment
}

// requireRestricted checks a pod against the standard "restricted": admission accepts it as it is.
func (tr *trial) requireRestricted(template corev1.PodTemplateSpec) {
	tr.t.Helper()
	const restricted = "restricted"
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: restricted, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": restricted, "pod-security.kubernetes.io/enforce-version": "latest",
	}}}
	_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.awaitDefaults(restricted)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"}, Spec: *template.Spec.DeepCopy()}
	pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = "default", ""
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	_, err = tr.client.CoreV1().Pods(restricted).Create(tr.ctx, pod, dry)
	require.NoError(tr.t, err)
	security := template.Spec.Containers[0].SecurityContext
	assert.True(tr.t, ptr.Deref(security.ReadOnlyRootFilesystem, false))
	assert.NotZero(tr.t, ptr.Deref(template.Spec.SecurityContext.RunAsUser, 0))
}

// The image's program runs as in its pod: with the Deployment's arguments and environment, the
// service account's files where a kubelet mounts them, as that user, on a read-only root, and with
// the rights of deploy/ alone.
func TestDeployedControllerWorks(t *testing.T) {
	t.Parallel()
	tr := onDeployment(t)
	tr.kubectl("apply -k " + filepath.Dir(repositoryFile(t, filepath.Join("deploy", "kustomization.yaml"))))
	pod := tr.deployment().Spec.Template.Spec
	recipe := readDockerfile(t)
	c := newContainer(t, buildProgram(t, recipe, buildContext(t), "v1.2.3"), tr.serviceAccountFiles())
	assert.Equal(t, recipe.user, fmt.Sprintf("%d:%d", *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup),
		"image and pod have the same user")

	port := programtest.FreePort(t)
	replica := c.start(t, tr.podEnvironment(pod),
		append(slices.Clone(pod.Containers[0].Args), "--metrics-port="+strconv.Itoa(port))...)
	base := "http://127.0.0.1:" + strconv.Itoa(port)
	container := pod.Containers[0]
	for _, path := range []string{container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path,
		"/metrics"} {
		tr.eventually(path+" is answered", func() (bool, error) { return answers(base + path) })
	}

	resource := tr.createCustomType("deployed.example.com", "things", "Thing")
	tr.createNamespace("crowded")
	tr.createConfigMap("crowded", "a")
	tr.createSecret("crowded", "b")
	tr.createCustom(resource, "Thing", "crowded", "c")
	tr.runPod("crowded", "d", "100ms", 1)
	tr.deleteNamespace("crowded")
	tr.awaitGone("crowded")

	assert.NotEmpty(t, tr.leaseHolder(deployedName))
	tr.eventually("an Event reports the deletion", func() (bool, error) {
		return len(tr.eventsAbout("crowded")) > 0, nil
	})

	// The kubelet sends a deleted pod SIGTERM and waits for the grace period.
	require.NoError(t, replica.Process.Signal(syscall.SIGTERM))
	select {
	case <-replica.done:
	case <-time.After(time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second):
		t.Error("the pod would have been killed")
	}
	assert.Zero(t, replica.ProcessState.ExitCode())
	assert.NotContains(t, replica.output.String(), `"level":"error"`)
}

// serviceAccountFiles returns the files that a kubelet mounts into a pod of the controller.
func (tr *trial) serviceAccountFiles() map[string]string {
	tr.t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](3607)}}
	token, err := tr.client.CoreV1().ServiceAccounts(deployedNamespace).CreateToken(tr.ctx, deployedName, request,
		metav1.CreateOptions{})
	require.NoError(tr.t, err)
	authority, err := tr.client.CoreV1().ConfigMaps(deployedNamespace).Get(tr.ctx, "kube-root-ca.crt",
		metav1.GetOptions{})
	require.NoError(tr.t, err)
	const dir = "/var/run/secrets/kubernetes.io/serviceaccount/"
	return map[string]string{dir + "token": token.Status.Token, dir + "ca.crt": authority.Data["ca.crt"],
		dir + "namespace": deployedNamespace}
}

// podEnvironment returns the environment that the kubelet and the pod set.
func (tr *trial) podEnvironment(pod corev1.PodSpec) []string {
	tr.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", tr.cluster.Kubeconfig())
	require.NoError(tr.t, err)
	server, err := url.Parse(config.Host)
	require.NoError(tr.t, err)
	env := []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(),
		"HOSTNAME=orrery-0"}
	for _, variable := range pod.Containers[0].Env {
		env = append(env, variable.Name+"="+variable.Value)
	}
	return env
}

// started is a running program in a container. Its output may be read when it has ended.
type started struct {
	*exec.Cmd
	output bytes.Buffer
	done   chan struct{} // closed when it has ended
}

// start runs the container's program in the background and kills it at the end of the test.
func (c *container) start(t *testing.T, env []string, args ...string) *started {
	t.Helper()
	s := &started{Cmd: c.command(t.Context(), env, args...), done: make(chan struct{})}
	s.Stdout, s.Stderr = &s.output, &s.output
	require.NoError(t, s.Start())
	go func() {
		defer close(s.done)
		_ = s.Wait() // callers read the exit code from the process state
	}()
	t.Cleanup(func() {
		_ = s.Process.Kill()
		<-s.done
		if t.Failed() {
			t.Logf("orrery %s printed:\n%s", strings.Join(args, " "), &s.output)
		}
	})
	return s
}

// answers reports whether a GET of the URL returns 200.
func answers(url string) (bool, error) {
	answer, err := http.Get(url)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if answer.StatusCode != http.StatusOK {
		return false, fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(body))
	}
	return true, err
}

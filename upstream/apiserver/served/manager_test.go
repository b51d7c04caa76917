package served_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"orrery/upstream/apiserver/served"
	"orrery/upstream/controlplane"
)

// kube-controller-manager on "lab serve" with three unmodified controllers: the namespace
// controller, and those for the default service account and the CA bundle. They use most of what
// controllers need of an API server: discovery, shared informers with streaming lists, metadata
// clients, deletion of collections, finalize and status. The results are checked through the API.
// One server and one kube-controller-manager serve all tests.
func TestManager(t *testing.T) {
	server, err := served.Start(t.Context(), served.Config{
		Controllers: append([]string{"namespace-controller"}, served.NamespaceControllers()...),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Stop())
	})
	for name, test := range map[string]func(*cluster){
		"every namespace is filled":       (*cluster).everyNamespaceIsFilled,
		"removed default content returns": (*cluster).whatIsTakenAwayComesBack,
		"a full namespace is emptied":     (*cluster).fullNamespaceIsEmptied,
		"finalizers hold a namespace":     (*cluster).finalizersHoldNamespaceUp,
		"a foreign token holds it":        (*cluster).foreignTokenHoldsNamespaceUp,
		"many namespaces come and go":     (*cluster).manyComeAndGo,
		"a name is used again":            (*cluster).nameIsUsedAgain,
		"cut watches are reopened":        (*cluster).disturbances,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, server)
			defer c.explainFailure(server.LogFile(controlplane.ControllerManager))
			test(c)
		})
	}
}

// Including those that the server itself created.
func (c *cluster) everyNamespaceIsFilled() {
	c.createNamespace("filled")
	for _, name := range []string{"filled", "default", "kube-system", "kube-public", "kube-node-lease"} {
		c.awaitDefaults(name)
	}
	bundle, err := c.typed.CoreV1().ConfigMaps("filled").Get(c.ctx, "kube-root-ca.crt", metav1.GetOptions{})
	require.NoError(c.t, err)
	config, err := clientcmd.BuildConfigFromFlags("", c.server.Kubeconfig())
	require.NoError(c.t, err)
	assert.Equal(c.t, map[string]string{"ca.crt": string(config.CAData)}, bundle.Data)
	assert.NotEmpty(c.t, bundle.Annotations["kubernetes.io/description"])

	c.deleteNamespace("filled")
	c.awaitGone("filled")
}

func (c *cluster) whatIsTakenAwayComesBack() {
	c.createNamespace("robbed")
	c.awaitDefaults("robbed")
	core := c.typed.CoreV1()
	old, err := core.ServiceAccounts("robbed").Get(c.ctx, "default", metav1.GetOptions{})
	require.NoError(c.t, err)
	require.NoError(c.t, core.ServiceAccounts("robbed").Delete(c.ctx, "default", metav1.DeleteOptions{}))
	c.eventually("there is another service account", func() (bool, error) {
		account, err := core.ServiceAccounts("robbed").Get(c.ctx, "default", metav1.GetOptions{})
		return err == nil && account.UID != old.UID, err
	})
	bundle, err := core.ConfigMaps("robbed").Get(c.ctx, "kube-root-ca.crt", metav1.GetOptions{})
	require.NoError(c.t, err)
	forged := bundle.DeepCopy()
	forged.Data["ca.crt"] = "forged"
	_, err = core.ConfigMaps("robbed").Update(c.ctx, forged, metav1.UpdateOptions{})
	require.NoError(c.t, err)
	c.eventually("the bundle is unchanged", func() (bool, error) {
		now, err := core.ConfigMaps("robbed").Get(c.ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && now.Data["ca.crt"] == bundle.Data["ca.crt"], err
	})
	c.deleteNamespace("robbed")
	c.awaitGone("robbed")
}

// One object of every type that can be created, and many of two.
func (c *cluster) fullNamespaceIsEmptied() {
	widgets := c.defineWidgets(c.t, "full.example.com")
	c.createNamespace("full")
	c.awaitDefaults("full")
	for i := range 150 {
		c.create(configMaps, "full", configMap(fmt.Sprintf("map-%03d", i)))
		c.create(widgets, "full", widget(widgets, fmt.Sprintf("widget-%03d", i)))
	}
	c.fillWithEveryType("full")
	// The controller that removes this finalizer when no pod uses the claim does not run.
	c.free(corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), "full", "one-of-each")
	c.deleteNamespace("full")
	_, err := c.typed.CoreV1().ConfigMaps("full").Create(c.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) { // it may be gone
		assert.True(c.t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)
	}
	c.awaitGone("full")
}

func (c *cluster) finalizersHoldNamespaceUp() {
	widgets := c.defineWidgets(c.t, "held.example.com")
	c.createNamespace("held")
	c.awaitDefaults("held")
	c.create(configMaps, "held", configMap("free"))
	c.create(configMaps, "held", configMap("held", "example.com/one"))
	c.create(widgets, "held", widget(widgets, "held", "example.com/one", "example.com/two"))
	c.deleteNamespace("held")

	c.awaitConditions("held", map[corev1.NamespaceConditionType]string{
		corev1.NamespaceFinalizersRemaining: "SomeFinalizersRemain: Some content in the namespace has finalizers remaining: " +
			"example.com/one in 2 resource instances, example.com/two in 1 resource instances",
		corev1.NamespaceContentRemaining: "SomeResourcesRemain: Some resources are remaining: " +
			"configmaps. has 1 resource instances, widgets.held.example.com has 1 resource instances",
		corev1.NamespaceDeletionDiscoveryFailure: "ResourcesDiscovered: All resources successfully discovered",
		corev1.NamespaceDeletionContentFailure:   "ContentDeleted: All content successfully deleted, may be waiting on finalization",
		corev1.NamespaceDeletionGVParsingFailure: "ParsedGroupVersions: All legacy kube types successfully parsed",
	})
	assert.Equal(c.t, map[string][]string{"configmaps": {"held"}, "widgets.held.example.com": {"held"}}, c.content("held"))
	namespace := c.namespace("held")
	assert.Equal(c.t, corev1.NamespaceTerminating, namespace.Status.Phase)
	assert.Equal(c.t, []corev1.FinalizerName{corev1.FinalizerKubernetes}, namespace.Spec.Finalizers)

	c.free(configMaps, "held", "held")
	c.free(widgets, "held", "held")
	c.awaitGone("held")
}

// Another party's token in spec.finalizers: the controller removes its own and leaves the rest.
func (c *cluster) foreignTokenHoldsNamespaceUp() {
	const origin corev1.FinalizerName = "openshift.io/origin"
	_, err := c.typed.CoreV1().Namespaces().Create(c.ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{origin}},
	}, metav1.CreateOptions{})
	require.NoError(c.t, err)
	c.awaitDefaults("foreign")
	c.deleteNamespace("foreign")
	c.eventually("the controller is done", func() (bool, error) {
		namespace, err := c.typed.CoreV1().Namespaces().Get(c.ctx, "foreign", metav1.GetOptions{})
		return err == nil && slices.Equal(namespace.Spec.Finalizers, []corev1.FinalizerName{origin}), err
	})
	assert.Empty(c.t, c.content("foreign"))
	namespace := c.namespace("foreign")
	namespace.Spec.Finalizers = nil
	_, err = c.typed.CoreV1().Namespaces().Finalize(c.ctx, namespace, metav1.UpdateOptions{})
	require.NoError(c.t, err)
	c.awaitGone("foreign")
}

func (c *cluster) manyComeAndGo() {
	name := func(i int) string { return fmt.Sprintf("many-%02d", i) }
	for i := range 40 {
		c.createNamespace(name(i))
		c.create(configMaps, name(i), configMap("content"))
	}
	for i := range 40 {
		c.deleteNamespace(name(i))
	}
	for i := range 40 {
		c.awaitGone(name(i))
	}
}

func (c *cluster) nameIsUsedAgain() {
	c.createNamespace("again")
	c.awaitDefaults("again")
	old := c.namespace("again")
	c.create(configMaps, "again", configMap("old"))
	c.deleteNamespace("again")
	c.awaitGone("again")
	c.createNamespace("again")
	c.create(configMaps, "again", configMap("new"))
	c.awaitDefaults("again")
	assert.NotEqual(c.t, old.UID, c.namespace("again").UID)
	assert.Equal(c.t, []string{"kube-root-ca.crt", "new"}, c.content("again")["configmaps"])
	c.deleteNamespace("again")
	c.awaitGone("again")
}

// Watches are cut and history is compacted while namespaces come and go.
func (c *cluster) disturbances() {
	for i, fault := range []string{"cut-watches", "compact", "cut-watches"} {
		name := fmt.Sprintf("disturbed-%d", i)
		c.createNamespace(name)
		c.awaitDefaults(name)
		c.create(configMaps, name, configMap("content"))
		_, err := c.server.Add(c.ctx, fault)
		require.NoError(c.t, err)
		c.deleteNamespace(name)
		c.awaitGone(name)
	}
}

// explainFailure logs the end of the manager's output if the test has failed.
func (c *cluster) explainFailure(logFile string) {
	if !c.t.Failed() {
		return
	}
	text, err := os.ReadFile(logFile)
	c.t.Logf("the end of kube-controller-manager's log (%v):\n%s", err, text[max(0, len(text)-4000):])
}

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/controller/gears"
	"orrery/examples/secondparty"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// origin is the second party of examples/secondparty beside the subject. The test runs its passes.
type origin struct {
	tr      *trial
	storage *secondparty.Storage
	client  *restclient.Resource[*api.Namespace]
	last    atomic.Pointer[api.Namespace] // the answer to the request that emptied spec.finalizers
	deleter nsctl.Deleter
}

// finalizing records the answers to finalize requests.
type finalizing struct {
	nsctl.NamespaceClient
	last *atomic.Pointer[api.Namespace]
}

func (f finalizing) UpdateSubresource(ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions) (*api.Namespace, error) {
	answer, err := f.NamespaceClient.UpdateSubresource(ctx, name, subresource, namespace, opts)
	f.last.Store(answer)
	return answer, err
}

func (tr *trial) newOrigin() *origin {
	tr.t.Helper()
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: tr.cluster.Kubeconfig()})
	require.NoError(tr.t, err)
	client, err := restclient.New(config)
	require.NoError(tr.t, err)
	tr.t.Cleanup(client.Close)
	o := &origin{tr: tr, client: restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")}
	o.storage, err = secondparty.OpenStorage(tr.t.TempDir())
	require.NoError(tr.t, err)
	tr.t.Cleanup(func() { assert.NoError(tr.t, o.storage.Close()) })
	var chosen gears.Set
	if set := os.Getenv("E2E_GEARS"); set != "" {
		require.NoError(tr.t, chosen.Set(set))
	}
	o.deleter = gears.Choose(chosen, "nsctl", nsctlfast.NewDeleter,
		nsctl.NewDeleter)(secondparty.DeleterConfig(finalizing{o.client, &o.last}, o.storage))
	return o
}

// fill puts a build for the namespace into the second party's storage.
func (o *origin) fill(namespace string) {
	o.tr.t.Helper()
	require.NoError(o.tr.t, secondparty.Create(o.tr.ctx, o.client, o.storage, secondparty.Builds, namespace, "build"))
}

// left returns the number of the namespace's builds.
func (o *origin) left(namespace string) int {
	o.tr.t.Helper()
	builds, err := o.storage.List(o.tr.ctx, secondparty.Builds, namespace)
	require.NoError(o.tr.t, err)
	return len(builds)
}

// finish runs a pass, and repeats it after too many conflicts with the subject.
func (o *origin) finish(namespace string) {
	o.tr.t.Helper()
	o.tr.eventually("the second party is done with "+namespace, func() (bool, error) {
		err := o.deleter.Delete(o.tr.ctx, namespace, nsctl.ObservedDeletion{})
		return err == nil, err
	})
	require.Zero(o.tr.t, o.left(namespace))
}

// noteTokens records phase and spec.finalizers, the states of the namespace design.
func (tr *trial) noteTokens(when, name string) {
	tr.t.Helper()
	namespace := tr.namespace(name)
	tr.state.note(when, fmt.Sprint(namespace.Status.Phase, " ", namespace.Spec.Finalizers))
}

func (tr *trial) awaitTokens(name string, tokens ...corev1.FinalizerName) {
	tr.t.Helper()
	tr.eventually(fmt.Sprintf("%v hold namespace %s", tokens, name), func() (bool, error) {
		namespace, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, name, metav1.GetOptions{})
		return err == nil && slices.Equal(namespace.Spec.Finalizers, tokens), err
	})
}

// The namespace design's example, state by state, with a second party: the Kubernetes controller
// finishes first.
func TestSecondPartyFinishesLast(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		second := tr.newOrigin()
		tr.createNamespace("second-last", secondparty.Token)
		tr.createConfigMap("second-last", "content")
		second.fill("second-last")
		tr.noteTokens("1: created", "second-last")
		tr.deleteNamespace("second-last")
		tr.noteTokens("2: deleted", "second-last")
		tr.awaitTokens("second-last", secondparty.Token)
		tr.noteNamespace("3: the first is done", "second-last")
		require.Equal(tr.t, 1, second.left("second-last"), "the first party does not know the second's content")

		second.finish("second-last")
		last := second.last.Load()
		require.NotNil(tr.t, last)
		tr.state.note("4: the answer to the last finalize", fmt.Sprint(last.Status.Phase, " ", last.Spec.Finalizers))
		tr.awaitGone("second-last")
	})
}

// The other order: an object of the first party has a finalizer. The second party leaves the first
// one's report alone.
func TestSecondPartyFinishesFirst(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		second := tr.newOrigin()
		tr.createNamespace("second-first", secondparty.Token)
		tr.createConfigMap("second-first", "held", holdingFinalizer)
		second.fill("second-first")
		tr.deleteNamespace("second-first")
		tr.awaitCondition("second-first", corev1.NamespaceFinalizersRemaining)
		second.finish("second-first")
		tr.awaitTokens("second-first", corev1.FinalizerKubernetes)
		tr.noteNamespace("when the second is done", "second-first")

		tr.free(configMaps, "second-first", "held")
		tr.awaitGone("second-first")
	})
}

// Emptying spec.finalizers by hand, as the web recommends for a namespace that hangs. The namespace
// goes with the request; its content is back in the next namespace of that name, which hangs as
// well.
func TestFinalizersAreEmptiedByHand(t *testing.T) {
	t.Parallel()
	tryEach(t, onSharedCluster, func(tr *trial) {
		tr.createNamespace("emptied")
		tr.createConfigMap("emptied", "held", holdingFinalizer)
		tr.deleteNamespace("emptied")
		tr.awaitCondition("emptied", corev1.NamespaceFinalizersRemaining)

		empty := func() error {
			namespace := tr.namespace("emptied")
			namespace.Spec.Finalizers = nil
			_, err := tr.client.CoreV1().Namespaces().Finalize(tr.ctx, namespace, metav1.UpdateOptions{})
			return err
		}
		err := empty()
		for apierrors.IsConflict(err) {
			err = empty()
		}
		require.NoError(tr.t, err)
		_, err = tr.client.CoreV1().Namespaces().Get(tr.ctx, "emptied", metav1.GetOptions{})
		require.True(tr.t, apierrors.IsNotFound(err), "%v", err)
		tr.noteContent("without a namespace", "emptied")

		tr.createNamespace("emptied")
		held, err := tr.client.CoreV1().ConfigMaps("emptied").Get(tr.ctx, "held", metav1.GetOptions{})
		require.NoError(tr.t, err)
		tr.state.note("in the next namespace: held is being deleted", fmt.Sprint(held.DeletionTimestamp != nil))
		tr.deleteNamespace("emptied")
		tr.awaitCondition("emptied", corev1.NamespaceFinalizersRemaining)
		tr.noteNamespace("the next one, terminating", "emptied")
		tr.free(configMaps, "emptied", "held")
		tr.awaitGone("emptied")
	})
}

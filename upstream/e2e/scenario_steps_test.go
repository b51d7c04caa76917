package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"

	"orrery/controller/gears"
	"orrery/upstream/controlplane"
)

// many returns the content of a namespace with n ConfigMaps and n Secrets.
func many(n int) (content []string) {
	for i := range n {
		content = append(content, fmt.Sprintf("configmap object-%03d", i), fmt.Sprintf("secret object-%03d", i))
	}
	return content
}

// deleteHundred deletes a hundred namespaces at once, ten times as many as there are workers.
func (tr *trial) deleteHundred() {
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("hundred-%02d", i)
	}
	tr.createFilled(names, 1)
	tr.deleteAll(names)
	tr.eventually("all are gone", func() (bool, error) { return tr.left(names) == 0, nil })
	everywhere := tr.namespacesWithContent()
	for _, name := range names {
		require.NotContains(tr.t, everywhere, name, "the namespace left objects behind")
	}
	tr.state.note("namespaces that are gone and have left nothing behind", "100")
}

// createFilled creates namespaces with some ConfigMaps.
func (tr *trial) createFilled(names []string, objects int) {
	tr.t.Helper()
	tr.parallelize(len(names), func(i int) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: names[i]}}
		_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
		for object := 0; object < objects && err == nil; object++ {
			err = tr.tryConfigMap(names[i], fmt.Sprintf("object-%d", object))
		}
		return err
	})
}

// deleteAll marks the namespaces for deletion.
func (tr *trial) deleteAll(names []string) {
	tr.t.Helper()
	tr.parallelize(len(names), func(i int) error {
		return tr.client.CoreV1().Namespaces().Delete(tr.ctx, names[i], metav1.DeleteOptions{})
	})
}

// left returns how many of the namespaces still exist.
func (tr *trial) left(names []string) (count int) {
	tr.t.Helper()
	list, err := tr.client.CoreV1().Namespaces().List(tr.ctx, metav1.ListOptions{})
	require.NoError(tr.t, err)
	for _, namespace := range list.Items {
		if slices.Contains(names, namespace.Name) {
			count++
		}
	}
	return count
}

// namespacesWithContent returns the names of all namespaces with any content.
func (tr *trial) namespacesWithContent() sets.Set[string] {
	tr.t.Helper()
	names := sets.New[string]()
	for _, resource := range tr.namespacedResources() {
		for _, item := range tr.list(resource, metav1.NamespaceAll) {
			names.Insert(item.GetNamespace())
		}
	}
	return names
}

// recreate creates a namespace anew as soon as the server allows it, while the controller still
// works on the old one's end. The new namespace and its content stay.
func (tr *trial) recreate() {
	old := tr.createNamespace("again")
	tr.createConfigMap("again", "held", holdingFinalizer)
	tr.deleteNamespace("again")
	tr.awaitCondition("again", corev1.NamespaceFinalizersRemaining)
	again := func() error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "again"}}
		_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
		return err
	}
	tr.state.note("creating it again while it is being deleted", string(apierrors.ReasonForError(again())))

	tr.free(configMaps, "again", "held")
	tr.eventually("the namespace can be created again", func() (bool, error) {
		err := again()
		return err == nil, err
	})
	tr.eventually("content is let into the new one", func() (bool, error) {
		// The server decides by its own watch, which may lag behind.
		err := tr.tryConfigMap("again", "new")
		return err == nil, err
	})
	// The controllers that fill new namespaces may have been refused, and do not retry on their own.
	tr.wake("again")
	tr.awaitDefaults("again")

	// Another namespace comes and goes. Work still planned for the old one is done before that.
	tr.createNamespace("again-later")
	tr.deleteNamespace("again-later")
	tr.awaitGone("again-later")
	require.NotEqual(tr.t, old, tr.namespace("again").UID)
	tr.noteNamespace("the new one", "again")
}

// emptyByHand empties spec.finalizers, as the web recommends for a namespace that hangs. The
// namespace goes with the request; its content is back in the next namespace of that name, which
// hangs as well.
func (tr *trial) emptyByHand() {
	tr.createNamespace("emptied")
	tr.createConfigMap("emptied", "held", holdingFinalizer)
	tr.deleteNamespace("emptied")
	tr.awaitCondition("emptied", corev1.NamespaceFinalizersRemaining)
	tr.dropToken("emptied", corev1.FinalizerKubernetes)
	_, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, "emptied", metav1.GetOptions{})
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
}

// fillBehindBlocker creates a namespace with a few objects, the deletion of whose ConfigMaps is held
// up.
func (tr *trial) fillBehindBlocker(namespace string) *blocker {
	tr.t.Helper()
	tr.createNamespace(namespace)
	for _, object := range many(20) {
		tr.create(namespace, object)
	}
	return tr.block(namespace, "object-000")
}

// holdNamespace deletes a namespace that a finalizer holds.
func (tr *trial) holdNamespace(name string) {
	tr.t.Helper()
	tr.createNamespace(name)
	tr.createConfigMap(name, "held", holdingFinalizer)
	tr.deleteNamespace(name)
	tr.awaitCondition(name, corev1.NamespaceFinalizersRemaining)
}

// comeAndGo creates and deletes a namespace, which must go.
func (tr *trial) comeAndGo(name string) {
	tr.t.Helper()
	tr.createNamespace(name)
	tr.deleteNamespace(name)
	tr.awaitGone(name)
}

// killController kills the controller while it deletes. A new one finds the rest of the work by
// itself.
func (tr *trial) killController() {
	blocker := tr.fillBehindBlocker("interrupted")
	tr.holdNamespace("held")
	tr.deleteNamespace("interrupted")
	blocker.AwaitReached()
	tr.cluster.KillController()
	blocker.Release()
	require.Contains(tr.t, tr.namespace("interrupted").Spec.Finalizers, corev1.FinalizerKubernetes)
	tr.createNamespace("meanwhile")
	tr.deleteNamespace("meanwhile")
	tr.free(configMaps, "held", "held")

	require.NoError(tr.t, tr.cluster.StartController(talkative(tr.cluster.subject)...))
	for _, name := range []string{"interrupted", "held", "meanwhile"} {
		tr.awaitGone(name)
	}
}

// restartAPIServer ends the API server during the work, once in order and once by a crash, with a
// request in flight.
func (tr *trial) restartAPIServer() {
	tr.holdNamespace("held")
	require.NoError(tr.t, tr.cluster.RestartAPIServer(tr.ctx))
	tr.awaitCondition("held", corev1.NamespaceFinalizersRemaining) // again, if a pass failed on the stopping server
	tr.noteNamespace("after a restart", "held")
	tr.comeAndGo("after-restart")

	blocker := tr.fillBehindBlocker("interrupted")
	tr.deleteNamespace("interrupted")
	blocker.AwaitReached()
	tr.cluster.KillAPIServer()
	blocker.Release()
	require.NoError(tr.t, tr.cluster.StartAPIServer(tr.ctx))
	tr.free(configMaps, "held", "held")
	tr.awaitGone("interrupted")
	tr.awaitGone("held")
	tr.comeAndGo("after-crash")
}

// forgetHistory makes the API server compact the version from which a watch resumes, so that it
// answers 410. The subject lists again and misses nothing.
func (tr *trial) forgetHistory() {
	tr.comeAndGo("before") // the subject's watch is running
	tr.createNamespace("known")
	version := tr.namespace("known").ResourceVersion
	// The last write is not to a namespace, so that the subject's version is history.
	tr.createConfigMap("known", "content")

	forgotten := time.Now()
	require.NoError(tr.t, tr.cluster.ForgetHistory(tr.ctx))
	require.Equal(tr.t, string(metav1.StatusReasonExpired), tr.watchVerdict(version))
	tr.eventually("the subject has read all namespaces again", func() (bool, error) {
		return slices.ContainsFunc(tr.auditedAfter(forgotten), func(r Request) bool {
			return r.initialList() && r.ResponseStatus.Code == 200
		}), nil
	})
	tr.deleteNamespace("known")
	tr.comeAndGo("new")
	tr.awaitGone("known")
}

// watchVerdict returns the server's first answer to a watch of namespaces from a version: the
// reason of its error or the type of the event.
func (tr *trial) watchVerdict(version string) string {
	tr.t.Helper()
	events, err := tr.client.CoreV1().Namespaces().Watch(tr.ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return string(apierrors.ReasonForError(err))
	}
	defer events.Stop()
	event, ok := <-events.ResultChan()
	require.True(tr.t, ok, "the server ended the watch without an event")
	if event.Type == watch.Error {
		return string(apierrors.ReasonForError(apierrors.FromObject(event.Object)))
	}
	return string(event.Type)
}

// The requests for one namespace without default content: no service account, no CA bundle. A list
// proves a type empty, and events, which two groups serve, are listed once; one request asks whether
// the server is ready, before its list of types is believed, and one compares the UID before the
// config maps, which are deleted unseen. The textbook form reads the namespace again before each of
// 30 types. The original lists each type after deleting it, pods before that too, and its finalize
// request meets the conflict that its own report of conditions causes. The test runs alone, because
// on a busy machine a pass may be repeated.
func TestRequestsForEmptyNamespace(t *testing.T) {
	scenario{
		name:   "empty",
		on:     onOwnCluster(controlplane.Config{Controllers: []string{"garbage-collector-controller"}}),
		play:   (*trial).countRequests,
		ofForm: map[string]map[string]string{gears.Fast: {"requests": "36"}, gears.Textbook: {"requests": "97"}},
	}.run(t)
}

func (tr *trial) countRequests() {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}
	_, err := tr.client.CoreV1().Namespaces().Create(tr.ctx, namespace, metav1.CreateOptions{})
	require.NoError(tr.t, err)
	tr.t.Cleanup(func() { tr.explainFailure("empty") })
	require.Empty(tr.t, tr.content("empty"))

	// The subject's requests at start are over.
	tr.eventually("the subject watches namespaces", func() (bool, error) {
		return slices.ContainsFunc(tr.audited(), Request.WatchesNamespaces), nil
	})
	deleted := time.Now()
	tr.deleteNamespace("empty")
	tr.awaitGone("empty")
	// Until it is finalized. On a slow machine another pass follows, which finds the namespace gone.
	needed := slices.DeleteFunc(tr.auditedAfter(deleted), func(r Request) bool {
		return !r.concerns("empty") && !r.discovers()
	})
	needed = needed[:slices.IndexFunc(needed, Request.Finalizes)+1]
	assert.NotEmpty(tr.t, needed)
	tr.state.note("requests", strconv.Itoa(len(needed)))
	tr.t.Logf("%v", needed)
}

// wake changes a namespace so that controllers process it again. The namespace may be gone.
func (tr *trial) wake(name string) {
	tr.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"e2e.orrery/woken":%q}}}`, time.Now().Format(time.RFC3339Nano))
	if err := tr.tryPatchNamespace(name, patch); !apierrors.IsNotFound(err) {
		require.NoError(tr.t, err)
	}
}

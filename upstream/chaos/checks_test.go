package chaos

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"orrery/internal/lab/bench"
)

// newFakeCluster returns a cluster whose server has only these objects.
func newFakeCluster(objects ...*unstructured.Unstructured) *cluster {
	lists := map[schema.GroupVersionResource]string{namespaces: "NamespaceList", serviceAccounts: "ServiceAccountList"}
	for gvr, kind := range kinds {
		lists[gvr] = kind + "List"
	}
	var all []runtime.Object
	for _, o := range objects {
		all = append(all, o)
	}
	return &cluster{client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, all...)}
}

func namespaceObject(name, uid, version string, deleting bool) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: document{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": document{"name": name, "uid": uid, "resourceVersion": version},
	}}
	if deleting {
		now := metav1.Now()
		object.SetDeletionTimestamp(&now)
	}
	return object
}

func content(gvr schema.GroupVersionResource, namespace, name, owner string, finalizers ...string) *unstructured.Unstructured {
	object := newObject(gvr, name, owner, finalizers)
	object.SetNamespace(namespace)
	if len(finalizers) > 0 {
		now := metav1.Now()
		object.SetDeletionTimestamp(&now)
	}
	return object
}

// finalize returns the request of a deleter that finalizes a namespace.
func finalize(t *testing.T, name, uid, version string, finalizers ...string) *http.Request {
	t.Helper()
	body, err := json.Marshal(document{
		"metadata": document{"name": name, "uid": uid, "resourceVersion": version}, "spec": document{"finalizers": finalizers},
	})
	require.NoError(t, err)
	return httptest.NewRequest(http.MethodPut, "/api/v1/namespaces/"+name+"/finalize", bytes.NewReader(body))
}

// The guard reports a deleter that finalizes early; it does not report correct work, nor a request
// that is too late to do harm.
func TestGuardFindsEarlyFinalizations(t *testing.T) {
	empty, full := namespaceObject("empty", "1", "10", true), namespaceObject("full", "2", "20", true)
	for name, c := range map[string]struct {
		request    *http.Request
		seen       int
		violations int
	}{
		"nothing is left":     {finalize(t, "empty", "1", "10"), 1, 0},
		"something is left":   {finalize(t, "full", "2", "20"), 1, 1},
		"another namespace":   {finalize(t, "full", "old", "20"), 0, 0},
		"another state":       {finalize(t, "full", "2", "19"), 0, 0},
		"no finalization yet": {finalize(t, "full", "2", "20", "kubernetes"), 0, 0},
		"something else":      {httptest.NewRequest(http.MethodPut, "/api/v1/namespaces/full/status", strings.NewReader("{}")), 0, 0},
	} {
		g := &guard{cluster: newFakeCluster(empty, full, content(widgets, "full", "left", "2"))}
		g.look(c.request)
		seen, violations := g.found()
		assert.Equal(t, c.seen, seen, name)
		assert.Len(t, violations, c.violations, name)
		for _, v := range violations {
			assert.Contains(t, v, "widgets/left")
		}
	}
}

func TestGuardLeavesTheBodyAsItWas(t *testing.T) {
	g := &guard{cluster: newFakeCluster()}
	request := finalize(t, "a", "1", "1")
	g.look(request)
	body, err := io.ReadAll(request.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), `"resourceVersion":"1"`)
}

func TestObjectsOfNamespacesThatHaveGone(t *testing.T) {
	r := &run{cluster: newFakeCluster(namespaceObject("here", "new", "1", false),
		content(configMaps, "here", "fine", "new"), content(secrets, "here", "unknown", ""),
		content(configMaps, "here", "inherited", "old"), content(pods, "gone", "orphan", "x"))}
	found, err := r.checkContent(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 2)
	text := strings.Join(found, "\n")
	assert.Contains(t, text, "pods gone/orphan is there, its namespace is not")
	assert.Contains(t, text, "configmaps here/inherited was made for the namespace with uid old")
}

// A namespace may stay only for content that the plan holds, and its conditions must say so.
func TestNamespacesThatStay(t *testing.T) {
	held := func(conditions ...any) *unstructured.Unstructured {
		object := namespaceObject("n", "1", "1", true)
		object.Object["status"] = document{"conditions": conditions}
		return object
	}
	condition := func(kind string) any { return document{"type": kind, "status": "True"} }
	says := held(condition("NamespaceContentRemaining"), condition("NamespaceFinalizersRemaining"))
	for name, c := range map[string]struct {
		namespace *unstructured.Unstructured
		content   []*unstructured.Unstructured
		want      []string
	}{
		"held, and it says so":  {says, []*unstructured.Unstructured{content(widgets, "n", "w", "1", holdFinalizer)}, nil},
		"a pod holds the rest":  {says, []*unstructured.Unstructured{content(pods, "n", "p", "1", holdFinalizer), content(secrets, "n", "s", "1")}, nil},
		"held, and silent":      {held(), []*unstructured.Unstructured{content(widgets, "n", "w", "1", holdFinalizer)}, []string{"NamespaceContentRemaining is not true", "NamespaceFinalizersRemaining is not true"}},
		"nothing in it":         {says, nil, []string{"nothing is in it"}},
		"something was skipped": {says, []*unstructured.Unstructured{content(widgets, "n", "w", "1", holdFinalizer), content(secrets, "n", "s", "1")}, []string{"secrets/s is in it though nothing holds it"}},
	} {
		r := &run{cluster: newFakeCluster(append(slices.Clone(c.content), c.namespace)...)}
		found, err := r.problemsOf(t.Context(), c.namespace)
		require.NoError(t, err)
		require.Len(t, found, len(c.want), "%s: %v", name, found)
		for i := range found {
			assert.Contains(t, found[i], c.want[i], name)
		}
	}
}

func TestLogsThatAreWrong(t *testing.T) {
	for line, want := range map[string]bool{
		`{"level":"info","message":"namespace finalized"}`:                   false,
		`{"level":"warn","message":"list-watch failed","error":"panic"}`:     false,
		`{"level":"error","message":"lost leadership, stopping at once"}`:    false,
		`{"level":"error","error":"no","message":"the run has failed"}`:      false,
		`{"level":"error","message":"event could not be applied"}`:           true,
		`{"level":"warn","message":"handler panicked"}`:                      true,
		`panic: runtime error: index out of range`:                           true,
		`goroutine 12 [running]:`:                                            true,
		`WARNING: DATA RACE`:                                                 true,
		`orrery: reaching the API server https://127.0.0.1: it is not there`: false,
	} {
		assert.Equal(t, want, isWrong(line), line)
	}
}

func TestReplicaReadsItsLog(t *testing.T) {
	p := &replica{name: "orrery-1", log: filepath.Join(t.TempDir(), "log")}
	require.NoError(t, os.WriteFile(p.log, []byte("{\"level\":\"info\"}\npanic: oh\n"), 0o600))
	found := p.faults()
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "panic: oh")
	assert.Equal(t, "panic: oh", string(lastLine(p.logFrom(0))))
}

func TestUsageOfAProcess(t *testing.T) {
	assert.Equal(t, 42, goroutineCount("goroutine profile: total 42\n1 @ 0x1"))
	assert.Zero(t, goroutineCount(""))
	memory, _ := bench.ResidentMemoryOf(os.Getpid())
	assert.Positive(t, memory)
	memory, _ = bench.ResidentMemoryOf(1 << 30)
	assert.Zero(t, memory)

	sum, found := sumOf("# HELP m_total x\nm_total{by=\"idle\"} 1\nm_total{by=\"ping\"} 2\nm_total_more 9\n", "m_total")
	assert.True(t, found)
	assert.EqualValues(t, 3, sum)
	_, found = sumOf("other 1\n", "m_total")
	assert.False(t, found)
}

func TestCallbacksAtTheSameTime(t *testing.T) {
	var c calls
	c.enter()
	c.leave()
	c.enter()
	assert.False(t, c.overlapped())
	c.enter()
	c.leave()
	c.leave()
	assert.True(t, c.overlapped(), "an overlap is recorded for good")
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"orrery/upstream/controlplane"
)

// newFakeRun returns a run on a server that has only these objects.
func newFakeRun(objects ...runtime.Object) *run {
	lists := map[schema.GroupVersionResource]string{
		namespaces: "NamespaceList", serviceAccounts: "ServiceAccountList",
	}
	for gvr, kind := range kinds {
		lists[gvr] = kind + "List"
	}
	return &run{cluster: &cluster{
		client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...),
	}}
}

func content(gvr schema.GroupVersionResource, namespace, name, owner string) *unstructured.Unstructured {
	object := newObject(gvr, name, owner)
	object.SetNamespace(namespace)
	return object
}

func TestObjectsOfNamespacesThatAreGone(t *testing.T) {
	here := newNamespace("here")
	here.SetUID("new")
	here.SetResourceVersion("1")
	r := newFakeRun(here, content(configMaps, "here", "fine", "new"), content(secrets, "here", "unknown", ""),
		content(configMaps, "here", "inherited", "old"), content(widgets, "gone", "orphan", "x"))
	found, err := r.orphans(t.Context())
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"widgets gone/orphan is there, its namespace is not",
		"configmaps here/inherited belongs to an earlier namespace, with uid old",
	}, found)
}

func TestNamespacesThatStay(t *testing.T) {
	now := metav1.Now()
	deleted := newNamespace("deleted")
	deleted.SetDeletionTimestamp(&now)
	found, err := newFakeRun(newNamespace("here"), deleted).terminating(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "namespace deleted is still there")
}

func TestLogsThatAreWrong(t *testing.T) {
	for line, want := range map[string]bool{
		`{"level":"info","message":"namespace finalized"}`:                   false,
		`{"level":"warn","message":"list-watch failed","error":"panic"}`:     false,
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

// A process that ends by itself has failed, and so has one that logs a panic.
func TestFaultsOfAProcess(t *testing.T) {
	p := &process{program: "/bin/sh", log: filepath.Join(t.TempDir(), "log")}
	p.args = []string{"-c", "echo panic: oh; exit 3"}
	require.NoError(t, p.start())
	<-p.running.Done()
	found := p.faults()
	require.Len(t, found, 2)
	assert.Contains(t, found[0], "orrery ended by itself")
	assert.Equal(t, "orrery logs: panic: oh", found[1])
	assert.IsType(t, &controlplane.ExitError{}, p.running.Err())

	p.args = []string{"-c", "exec sleep 60"}
	require.NoError(t, os.Truncate(p.log, 0))
	require.NoError(t, p.start())
	p.kill()
	assert.Empty(t, p.faults(), "a requested end is no fault")
}

func TestValueOfAMetric(t *testing.T) {
	const metrics = "# HELP go_goroutines x\ngo_goroutines_more 9\ngo_goroutines 42\n"
	value, shown := valueOf(metrics, "go_goroutines")
	assert.True(t, shown)
	assert.EqualValues(t, 42, value)
	_, shown = valueOf(metrics, "process_open_fds")
	assert.False(t, shown)
}

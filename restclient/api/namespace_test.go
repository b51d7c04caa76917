package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// A namespace as kube-apiserver writes it, with every metadata field and, marked "new", some that
// a later version may have.
const wireNamespace = `{
  "kind": "Namespace", "apiVersion": "v1", "newTop": {"a": 1},
  "metadata": {
    "name": "shop", "generateName": "sh", "namespace": "", "selfLink": "/x", "uid": "5c1c4d5f", "resourceVersion": "412", "generation": 9007199254740993,
    "creationTimestamp": "2026-03-01T12:00:00Z", "deletionTimestamp": "2026-03-01T13:00:00Z", "deletionGracePeriodSeconds": 0,
    "labels": {"kubernetes.io/metadata.name": "shop"}, "annotations": {"note": "a \"quoted\" <b>"},
    "ownerReferences": [{"apiVersion": "v1", "kind": "Tenant", "name": "t", "uid": "1",
      "controller": true, "blockOwnerDeletion": false, "newOwner": 1},
      {"apiVersion": "v1", "kind": "Tenant", "name": "u", "uid": "2", "newOwner": {"b": 2}}],
    "finalizers": ["example.com/hold"],
    "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "time": "2026-03-01T12:00:00Z", "fieldsType": "FieldsV1",
      "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}}, "newEntry": [3]}],
    "newMeta": ["x"]
  },
  "spec": {"finalizers": ["kubernetes", "openshift.io/origin"], "newSpec": 7},
  "status": {"phase": "Terminating", "newStatus": {"deep": [null]},
    "conditions": [{"type": "NamespaceContentRemaining", "status": "True", "lastTransitionTime": "2026-03-01T13:00:05Z",
      "reason": "SomeResourcesRemain", "message": "m", "newCondition": {"c": 4}},
      {"type": "example.com/Mine", "status": "False", "newCondition": 5}]}
}`

func TestNamespaceSurvivesARoundTrip(t *testing.T) {
	var ns api.Namespace
	require.NoError(t, json.Unmarshal([]byte(wireNamespace), &ns))
	assert.Equal(t, "shop", ns.GetName())
	assert.EqualValues(t, 9007199254740993, ns.Generation)
	assert.Equal(t, time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), ns.GetDeletionTimestamp().UTC())
	assert.Equal(t, []string{"kubernetes", "openshift.io/origin"}, ns.Spec.Finalizers)
	assert.Equal(t, api.NamespaceTerminating, ns.Status.Phase)
	assert.Equal(t, api.ConditionTrue, ns.Status.Conditions[0].Status)

	want := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(wireNamespace), &want))
	delete(want["metadata"].(map[string]any), "namespace") // "" is left out, as in Kubernetes
	for name, value := range map[string]any{"value": ns, "pointer": &ns, "copy": ns.DeepCopy()} {
		data, err := json.Marshal(value)
		require.NoError(t, err)
		got := map[string]any{}
		require.NoError(t, json.Unmarshal(data, &got))
		assert.Equal(t, want, got, name)
	}
}

// A status update changes only its field. Unknown fields belong to a condition or an owner, not to
// its place in the list, and stay if a client writes the condition anew. They go with it.
func TestNamespaceUpdateLosesNothing(t *testing.T) {
	var ns api.Namespace
	require.NoError(t, json.Unmarshal([]byte(wireNamespace), &ns))
	changed := ns.DeepCopy()
	changed.Spec.Finalizers = []string{"openshift.io/origin"}
	changed.OwnerReferences = changed.OwnerReferences[1:]
	changed.Status.Conditions = []api.NamespaceCondition{
		{Type: "Added", Status: api.ConditionTrue},
		{Type: "example.com/Mine", Status: api.ConditionTrue},
	}
	data, err := json.Marshal(changed)
	require.NoError(t, err)
	var back api.Unstructured
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, map[string]any{"finalizers": []any{"openshift.io/origin"}, "newSpec": int64(7)},
		back.Nested("spec"))
	assert.Equal(t, map[string]any{"phase": "Terminating", "newStatus": map[string]any{"deep": []any{nil}},
		"conditions": []any{
			map[string]any{"type": "Added", "status": "True"},
			map[string]any{"type": "example.com/Mine", "status": "True", "newCondition": int64(5)},
		}}, back.Nested("status"))
	assert.Equal(t, map[string]any{"a": int64(1)}, back.Nested("newTop"))
	assert.Equal(t, []string{"x"}, back.NestedStringSlice("metadata", "newMeta"))
	assert.Equal(t, []any{map[string]any{"apiVersion": "v1", "kind": "Tenant", "name": "u", "uid": "2",
		"newOwner": map[string]any{"b": int64(2)}}}, back.Nested("metadata", "ownerReferences"))
	assert.Equal(t, "NamespaceContentRemaining", string(ns.Status.Conditions[0].Type), "the original is left alone")
}

func TestNamespaceWithoutAnything(t *testing.T) {
	ns := api.Namespace{Spec: api.NamespaceSpec{Finalizers: []string{"old"}}}
	require.NoError(t, json.Unmarshal([]byte(`{"metadata":null,"spec":null,"newTop":1}`), &ns))
	data, err := json.Marshal(ns)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{},"spec":{},"status":{},"newTop":1}`, string(data))
	for _, wrong := range []string{`[]`, `{"metadata":7}`, `{"spec":[]}`, `{`} {
		assert.Error(t, json.Unmarshal([]byte(wrong), &ns), wrong)
	}
}

// sharesNothing checks that a copy equals its original, which does not change with it.
func sharesNothing[T interface{ DeepCopy() T }](t *testing.T, original T, spoil func(T)) {
	t.Helper()
	written := func(object T) string {
		data, err := json.Marshal(object)
		require.NoError(t, err)
		return string(data)
	}
	before, copied := written(original), original.DeepCopy()
	assert.Equal(t, before, written(copied))
	spoil(copied)
	assert.NotEqual(t, before, written(copied))
	assert.Equal(t, before, written(original), "%T", original)
}

func TestDeepCopiesShareNothing(t *testing.T) {
	grace, yes, deleted := int64(30), true, api.NewTime(time.Unix(1e9, 0))
	meta := api.ObjectMeta{
		Name: "a", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
		Finalizers:        []string{"f"},
		DeletionTimestamp: &deleted, DeletionGracePeriodSeconds: &grace,
		ManagedFields:   api.NewManagedFields([]byte(`[1]`)),
		OwnerReferences: []api.OwnerReference{{Name: "o", Controller: &yes, BlockOwnerDeletion: &yes}},
	}
	spoil := func(m *api.ObjectMeta) {
		m.Labels["l"], m.Annotations["a"], m.Finalizers[0] = "2", "2", "g"
		m.DeletionTimestamp.Time, *m.DeletionGracePeriodSeconds = time.Time{}, 0
		owner := &m.OwnerReferences[0]
		*owner.Controller, *owner.BlockOwnerDeletion, owner.Name = false, false, "p"
	}
	sharesNothing(t, &api.Namespace{ObjectMeta: meta, Spec: api.NamespaceSpec{Finalizers: []string{"k"}},
		Status: api.NamespaceStatus{Conditions: []api.NamespaceCondition{{Type: "x"}}}}, func(ns *api.Namespace) {
		spoil(&ns.ObjectMeta)
		ns.Spec.Finalizers[0], ns.Status.Conditions[0].Type = "z", "z"
	})
	pod := &api.Pod{ObjectMeta: meta, Spec: api.PodSpec{TerminationGracePeriodSeconds: &grace}}
	sharesNothing(t, pod, func(pod *api.Pod) {
		spoil(&pod.ObjectMeta)
		*pod.Spec.TerminationGracePeriodSeconds = 1
	})
	sharesNothing(t, &api.PartialObjectMetadata{TypeMeta: api.TypeMeta{Kind: "K"}, ObjectMeta: meta},
		func(partial *api.PartialObjectMetadata) { spoil(&partial.ObjectMeta) })
	configMap := &api.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "v"}}
	sharesNothing(t, configMap, func(m *api.ConfigMap) {
		spoil(&m.ObjectMeta)
		m.Data["k"] = "w"
	})
	seconds, moment := int32(1), api.NewMicroTime(time.Unix(1e9, 0))
	lease := &api.Lease{Spec: api.LeaseSpec{LeaseDurationSeconds: &seconds, LeaseTransitions: &seconds,
		AcquireTime: &moment, RenewTime: &moment}}
	sharesNothing(t, lease, func(lease *api.Lease) {
		spec := &lease.Spec
		*spec.LeaseDurationSeconds, *spec.LeaseTransitions = 2, 3
		*spec.AcquireTime, *spec.RenewTime = api.MicroTime{}, api.MicroTime{}
	})
	sharesNothing(t, widget(t), func(u *api.Unstructured) {
		require.NoError(t, u.SetNested("other", "spec", "text"))
		u.Nested("spec", "list").([]any)[1].(map[string]any)["a"] = "x"
	})
	assert.Equal(t, api.ObjectMeta{}, api.ObjectMeta{}.DeepCopy())
}

// The files in testdata are responses of kube-apiserver v1.36.3, byte for byte.
func wire(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func TestWireNamespace(t *testing.T) {
	data := wire(t, "namespace.json")
	var ns api.Namespace
	require.NoError(t, json.Unmarshal(data, &ns))
	assert.Equal(t, api.TypeMeta{Kind: "Namespace", APIVersion: "v1"}, ns.TypeMeta)
	assert.Equal(t, "shop", ns.Name)
	assert.NotEmpty(t, ns.UID)
	assert.False(t, ns.CreationTimestamp.IsZero())
	assert.False(t, ns.DeletionTimestamp.IsZero())
	assert.Equal(t, map[string]string{"kubernetes.io/metadata.name": "shop"}, ns.Labels)
	assert.NotEmpty(t, ns.ManagedFields)
	assert.Equal(t, []string{api.FinalizerKubernetes}, ns.Spec.Finalizers)
	assert.Equal(t, api.NamespaceTerminating, ns.Status.Phase)
	require.Len(t, ns.Status.Conditions, 1)
	assert.Equal(t, api.NamespaceContentRemaining, ns.Status.Conditions[0].Type)
	assert.Equal(t, "Some resources are remaining: configmaps. has 2 resource instances",
		ns.Status.Conditions[0].Message)

	back, err := json.Marshal(ns)
	require.NoError(t, err)
	assert.JSONEq(t, string(data), string(back), "it is written as it was read")
}

func TestWireStatuses(t *testing.T) {
	for _, c := range []struct {
		file    string
		code    int
		check   func(error) bool
		message string
	}{
		{"status-409.json", 409, api.IsConflict,
			`Operation cannot be fulfilled on namespaces "shop": the object has been modified; please apply your changes to the latest version and try again`},
		{"status-404.json", 404, api.IsNotFound, `namespaces "none" not found`},
		{"status-403-terminating.json", 403, api.IsForbidden,
			`configmaps "x" is forbidden: unable to create new content in namespace shop because it is being terminated`},
		{"status-403-terminating.json", 403, api.IsNamespaceTerminating,
			`configmaps "x" is forbidden: unable to create new content in namespace shop because it is being terminated`},
		{"status-504-too-large.json", 504, api.IsTooLargeResourceVersion,
			"Timeout: Too large resource version: 999999, current: 233"},
		{"status-504-too-large.json", 504, api.IsTimeout, "Timeout: Too large resource version: 999999, current: 233"},
	} {
		var status api.Status
		require.NoError(t, json.Unmarshal(wire(t, c.file), &status))
		err := api.NewStatusError(status)
		assert.True(t, c.check(err), c.file)
		assert.Equal(t, c.code, api.CodeOf(err))
		assert.EqualError(t, err, c.message)
	}
	var tooLarge api.Status
	require.NoError(t, json.Unmarshal(wire(t, "status-504-too-large.json"), &tooLarge))
	assert.Equal(t, time.Second, api.RetryAfterOf(api.NewStatusError(tooLarge)))
}

const someFields = `[{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-05T08:00:00Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:status":{"f:podIPs":{"k:{\"ip\":\"10.0.0.1\"}":{".":{},"f:ip":{}}}}},"subresource":"status"}]`

func TestManagedFieldsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, text := range []string{someFields, `[]`, `[ {"manager" : "kubectl"} ]`, `[{"manager":"\u00e9 \"x\" \\"}]`} {
		var meta api.ObjectMeta
		input := []byte(`{"managedFields":` + text + `}`)
		require.NoError(t, json.Unmarshal(input, &meta))
		clear(input) // nothing of it is kept
		assert.Equal(t, text, meta.ManagedFields.String())
		assert.Equal(t, api.NewManagedFields([]byte(text)), meta.ManagedFields)
		written, err := json.Marshal(&meta)
		require.NoError(t, err)
		assert.JSONEq(t, `{"managedFields":`+text+`}`, string(written))
	}
}

func TestNoManagedFields(t *testing.T) {
	var meta api.ObjectMeta
	require.NoError(t, json.Unmarshal([]byte(`{"managedFields":null}`), &meta))
	assert.True(t, meta.ManagedFields.IsZero())
	written, err := json.Marshal(&meta)
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(written), "an empty list would mean that no client manages a field")
	alone, err := json.Marshal(meta.ManagedFields)
	require.NoError(t, err)
	assert.Equal(t, "null", string(alone))
}

func TestManagedFieldsEntries(t *testing.T) {
	at := api.NewTime(time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC))
	for text, want := range map[string][]api.ManagedFieldsEntry{"": nil, someFields: {{
		Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &at, Subresource: "status",
		FieldsV1: json.RawMessage(`{"f:status":{"f:podIPs":{"k:{\"ip\":\"10.0.0.1\"}":{".":{},"f:ip":{}}}}}`),
	}}} {
		entries, err := api.NewManagedFields([]byte(text)).Entries()
		require.NoError(t, err)
		assert.Equal(t, want, entries)
	}
	_, err := api.NewManagedFields([]byte(`{"manager":7}`)).Entries()
	assert.Error(t, err)
}

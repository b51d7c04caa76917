package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The fields that a type does not declare are written back, at every level.
func TestTypesLoseNothing(t *testing.T) {
	for _, c := range []struct {
		into any
		text string
	}{
		{&api.Pod{}, `{"kind":"Pod","apiVersion":"v1","new":{"a":[1]},"metadata":{"name":"p","newMeta":{"b":null}},
			"spec":{"nodeName":"n","terminationGracePeriodSeconds":30,"containers":[{"name":"c","env":[{"x":"y"}]}]},
			"status":{"phase":"Running","conditions":[{"type":"Ready","extra":{"deep":[true]}}],"podIP":"10.0.0.1"}}`},
		{&api.ConfigMap{}, `{"metadata":{"name":"m","newMeta":1},"data":{"key":"text"},"binaryData":{"bytes":"AAE="},
			"immutable":true}`},
		// A renewal keeps the fields of coordinated election.
		{&api.Lease{}, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"orrery","newMeta":[1],
			"managedFields":[{"manager":"a","newEntry":1}],
			"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","newOwner":1}]},
			"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"acquireTime":"2026-03-01T12:00:15.120000Z",
			"renewTime":"2026-03-01T12:00:17.000001Z","leaseTransitions":3,"strategy":"OldestEmulationVersion",
			"preferredHolder":"b_2","later":{"x":1}},"status":{"y":2}}`},
	} {
		require.NoError(t, json.Unmarshal([]byte(c.text), c.into))
		written, err := json.Marshal(c.into)
		require.NoError(t, err)
		assert.JSONEq(t, c.text, string(written), "%T", c.into)
	}
}

// A document that cannot be read leaves the object as it was.
func TestAFailedReadChangesNothing(t *testing.T) {
	object := api.ConfigMap{Data: map[string]string{"key": "value"}}
	require.Error(t, json.Unmarshal([]byte(`{"kind": "other", "data": 7}`), &object))
	assert.Equal(t, api.ConfigMap{Data: map[string]string{"key": "value"}}, object)
}

func TestGroupVersions(t *testing.T) {
	for text, want := range map[string]api.GroupVersion{
		"v1":      {Version: "v1"},
		"apps/v1": {Group: "apps", Version: "v1"},
		"":        {},
	} {
		got, err := api.ParseGroupVersion(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
	}
	got, err := api.ParseGroupVersion("/")
	require.NoError(t, err)
	assert.Equal(t, api.GroupVersion{}, got)
	_, err = api.ParseGroupVersion("a/b/c")
	assert.EqualError(t, err, "unexpected GroupVersion string: a/b/c", "the namespace conditions show this text")

	gvr := api.GroupVersion{Group: "apps", Version: "v1"}.WithResource("deployments")
	assert.Equal(t, "apps/v1, Resource=deployments", gvr.String())
	assert.Equal(t, api.GroupVersion{Group: "apps", Version: "v1"}, gvr.GroupVersion())
	assert.Equal(t, "deployments.apps", gvr.GroupResource())
	assert.Equal(t, "pods.", api.PodsResource.GroupResource(), "the conditions name core resources with a trailing dot")
	assert.Equal(t, "/v1, Resource=pods", api.PodsResource.String())
	assert.Equal(t, "apps/v1, Kind=Deployment",
		api.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}.String())
}

func TestDeleteOptionsOnTheWire(t *testing.T) {
	grace, uid, version := int64(0), "u", "7"
	for want, options := range map[string]api.DeleteOptions{
		`{"kind":"DeleteOptions","apiVersion":"v1"}`: {},
		`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Foreground","dryRun":["All"]}`: {
			GracePeriodSeconds: &grace, Preconditions: &api.Preconditions{UID: &uid, ResourceVersion: &version},
			PropagationPolicy: api.DeletePropagationForeground, DryRun: true,
		},
	} {
		data, err := json.Marshal(options)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var back api.DeleteOptions
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, options, back)
	}
	assert.Error(t, json.Unmarshal([]byte(`{"gracePeriodSeconds":"soon"}`), &api.DeleteOptions{}))
}

func TestAReleasedLeaseHasNoHolderOnTheWire(t *testing.T) {
	data, err := json.Marshal(api.Lease{ObjectMeta: api.ObjectMeta{Name: "orrery"}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"name":"orrery"},"spec":{}}`, string(data))
}

func TestTimesOnTheWire(t *testing.T) {
	zone := time.FixedZone("somewhere", 5*3600+1800)
	moment := time.Date(2026, 3, 1, 17, 30, 15, 120000987, zone)
	for _, c := range []struct {
		object any
		want   string
	}{
		{api.NewTime(moment), `"2026-03-01T12:00:15Z"`},
		{api.Time{}, `null`},
		{api.NewMicroTime(moment), `"2026-03-01T12:00:15.120000Z"`}, // six digits, also when they are zero
		{api.MicroTime{}, `null`},
	} {
		data, err := json.Marshal(c.object)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(data), "%T", c.object)
	}
	for text, want := range map[string]time.Time{
		`"2026-03-01T12:00:15Z"`:             moment.Truncate(time.Second),
		`"2026-03-01T17:30:15+05:30"`:        moment.Truncate(time.Second),
		`"2026-03-01T12:00:15.120000Z"`:      moment.Truncate(time.Microsecond),
		`"2026-03-01T17:30:15.120000+05:30"`: moment.Truncate(time.Microsecond),
		`"2026-03-01T12:00:15\u005a"`:        moment.Truncate(time.Second),
		`null`:                               {},
		`""`:                                 {},
	} {
		seconds, micro := api.NewTime(time.Now()), api.NewMicroTime(time.Now())
		require.NoError(t, json.Unmarshal([]byte(text), &seconds), text)
		assert.True(t, want.Equal(seconds.Time), "%s gives %v", text, seconds)
		require.NoError(t, json.Unmarshal([]byte(text), &micro), text)
		assert.True(t, want.Equal(micro.Time), "%s gives %v", text, micro)
	}
	for _, text := range []string{`7`, `"yesterday"`, `{}`, `"2026-03-01"`} {
		assert.Error(t, json.Unmarshal([]byte(text), new(api.Time)), text)
		assert.Error(t, json.Unmarshal([]byte(text), new(api.MicroTime)), text)
	}
}

const wireWidget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"shop","uid":"u","resourceVersion":"7",
 "labels":{"a":"b","odd":7},"annotations":{"n":"1"},"finalizers":["x","y",3],"deletionTimestamp":"2026-03-01T13:00:00Z"},
 "spec":{"big":9007199254740993,"ratio":0.5,"huge":1e400,"large":123456789012345678901234567890,"on":true,"list":[1,{"a":null}],"text":"t"}}`

func widget(t *testing.T) *api.Unstructured {
	t.Helper()
	var u api.Unstructured
	require.NoError(t, json.Unmarshal([]byte(wireWidget), &u))
	return &u
}

func TestUnstructuredAccessors(t *testing.T) {
	u := widget(t)
	assert.Equal(t, "Widget", u.GetKind())
	assert.Equal(t, "example.com/v1", u.GetAPIVersion())
	assert.Equal(t, "w", u.GetName())
	assert.Equal(t, "shop", u.GetNamespace())
	assert.Equal(t, "u", u.GetUID())
	assert.Equal(t, "7", u.GetResourceVersion())
	assert.Equal(t, map[string]string{"a": "b"}, u.GetLabels())
	assert.Equal(t, map[string]string{"n": "1"}, u.GetAnnotations())
	assert.Equal(t, []string{"x", "y"}, u.GetFinalizers())
	assert.Equal(t, time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), u.GetDeletionTimestamp().Time)
	assert.EqualValues(t, 9007199254740993, u.NestedInt64("spec", "big"), "float64 would have rounded it")
	assert.Equal(t, 0.5, u.Nested("spec", "ratio"))
	assert.Equal(t, json.Number("1e400"), u.Nested("spec", "huge"), "what fits no number keeps its digits")
	assert.Equal(t, json.Number("123456789012345678901234567890"), u.Nested("spec", "large"))
	back, err := json.Marshal(u)
	require.NoError(t, err)
	again := &api.Unstructured{}
	require.NoError(t, again.UnmarshalJSON(back))
	assert.Equal(t, u, again)
	assert.True(t, u.NestedBool("spec", "on"))
	assert.Equal(t, []any{int64(1), map[string]any{"a": nil}}, u.Nested("spec", "list"))
}

// Accessors of a document with unexpected types.
func TestUnstructuredAccessorsNeverPanic(t *testing.T) {
	for _, text := range []string{`{}`, `{"metadata":7}`,
		`{"metadata":{"name":7,"labels":"x","finalizers":{},"deletionTimestamp":"soon"}}`, `{"metadata":null}`,
		`null`} {
		var u api.Unstructured
		require.NoError(t, json.Unmarshal([]byte(text), &u))
		assert.Empty(t, u.GetName())
		assert.Empty(t, u.GetLabels())
		assert.Empty(t, u.GetFinalizers())
		assert.Nil(t, u.GetDeletionTimestamp())
		assert.Zero(t, u.NestedInt64("metadata", "name", "deeper"))
		assert.False(t, u.NestedBool("metadata"))
		u.RemoveNested("metadata", "name", "deeper")
	}
	var zero api.Unstructured
	assert.Empty(t, zero.GetName())
	assert.Equal(t, &api.Unstructured{}, zero.DeepCopy())
}

func TestUnstructuredChanges(t *testing.T) {
	var u api.Unstructured
	require.NoError(t, u.SetNested("w", "metadata", "name"))
	require.NoError(t, u.SetNested(int64(3), "spec", "replicas"))
	require.NoError(t, u.SetNested(true, "top"))
	data, err := json.Marshal(&u)
	require.NoError(t, err)
	assert.Equal(t, `{"metadata":{"name":"w"},"spec":{"replicas":3},"top":true}`, string(data))
	assert.EqualError(t, u.SetNested("x", "metadata", "name", "first"), "metadata.name is a string, not a map")
	u.RemoveNested("spec", "replicas")
	u.RemoveNested("top")
	assert.Equal(t, map[string]any{"metadata": map[string]any{"name": "w"}, "spec": map[string]any{}}, u.Object)
}

func TestUnstructuredRefusesWhatIsNoDocument(t *testing.T) {
	for _, text := range []string{`[]`, `7`, `{"a":}`, `{} {}`, `{}x`, ``} {
		assert.Error(t, new(api.Unstructured).UnmarshalJSON([]byte(text)), text)
	}
}

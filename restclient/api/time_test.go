package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// Fields of a later server version and of coordinated election survive a renewal.
func TestALeaseIsWrittenBackWithAllThatItHad(t *testing.T) {
	const text = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",
		"metadata":{"name":"orrery","namespace":"kube-system",
		"resourceVersion":"7","newMeta":[1],"managedFields":[{"manager":"a","newEntry":1}],
		"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","newOwner":1}]},
		"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"acquireTime":"2026-03-01T12:00:15.120000Z","renewTime":"2026-03-01T12:00:17.000001Z",
		"leaseTransitions":3,"strategy":"OldestEmulationVersion","preferredHolder":"b_2","later":{"x":1}},"status":{"y":2}}`
	var lease api.Lease
	require.NoError(t, json.Unmarshal([]byte(text), &lease))
	assert.Equal(t, "a_1", lease.Spec.HolderIdentity)
	assert.Equal(t, int32(15), *lease.Spec.LeaseDurationSeconds)
	data, err := json.Marshal(lease)
	require.NoError(t, err)
	assert.JSONEq(t, text, string(data))
	data, err = json.Marshal(lease.DeepCopy())
	require.NoError(t, err)
	assert.JSONEq(t, text, string(data))
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

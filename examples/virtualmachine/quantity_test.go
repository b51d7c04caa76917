package virtualmachine_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

func TestQuantities(t *testing.T) {
	for text, want := range map[string]int64{
		`1`: 1, `"1"`: 1, `"4G"`: 4_000_000_000, `"1.5Gi"`: 3 << 29, `"1e3"`: 1000, `"1E3"`: 1000, `"2E"`: 2e18,
		`"128Ki"`: 128 << 10,
		`"2500m"`: 3, `"1M"`: 1e6, `"7k"`: 7000, `".5k"`: 500, `"+3"`: 3,
	} {
		got, err := virtualmachine.Quantity(text).In(1)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]int64{`2`: 2000, `"500m"`: 500, `"0.1"`: 100, `"1.1"`: 1100} {
		got, err := virtualmachine.Quantity(text).In(0.001)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{``, `""`, `"G"`, `"1X"`, `"1GiB"`, `"inf"`, `"NaN"`, `"0x10"`, `"1_000"`, `"1Gi1"`,
		`null`, `"many"`} {
		_, err := virtualmachine.Quantity(text).In(1)
		assert.ErrorContains(t, err, "is not a quantity such as 2, 500m or 4Gi", text)
	}
	for _, text := range []string{`0`, `-1`, `"0"`, `"1n"`, `"10E"`, `"1e300"`} {
		_, err := virtualmachine.Quantity(text).In(1)
		assert.ErrorContains(t, err, "is out of range", text)
	}
}

// A value is written as it was read: a number stays a number.
func TestQuantitiesAreWrittenAsTheyWereRead(t *testing.T) {
	const text = `{"resource":{"cpu":2,"memory":"4G"}}`
	var spec virtualmachine.VirtualMachineSpec
	require.NoError(t, json.Unmarshal([]byte(text), &spec))
	written, err := json.Marshal(spec)
	require.NoError(t, err)
	assert.Equal(t, text, string(written))

	written, err = json.Marshal(virtualmachine.VirtualMachineSpec{})
	require.NoError(t, err)
	assert.Equal(t, `{"resource":{}}`, string(written), "what is missing stays missing")
}

// A machine has the size that its object asks for. Its usage is formatted as kubectl formats
// amounts.
func TestUsageIsShownAsQuantities(t *testing.T) {
	inBubble(t, func(w *world) {
		var used atomic.Pointer[driver.Status]
		used.Store(&driver.Status{State: driver.Running})
		p := w.start(func(config *virtualmachine.Config) {
			config.Driver = reporting{config.Driver, func() (driver.Status, error) { return *used.Load(), nil }}
		})
		name := "a-" + w.createAndWait("a").UID
		asked := driver.CreateRequest{Name: name, CPU: 2000, Memory: 4_000_000_000}
		assert.Equal(w.t, map[string]driver.CreateRequest{name: asked}, w.driver.Servers())
		assert.Equal(w.t, []string{"a Normal ServerCreated: the server " + name + " was created"}, told(p, &p.events))
		for _, c := range []struct {
			cpu, memory float64
			want        virtualmachine.ResourceUsage
		}{
			{0, 0, virtualmachine.ResourceUsage{CPU: "0", Memory: "0"}},
			{0.0398336, 0.0398336, virtualmachine.ResourceUsage{CPU: "1m", Memory: "2Mi"}},
			{12.5, 0.005, virtualmachine.ResourceUsage{CPU: "250m", Memory: "195Ki"}},
			{100, 100, virtualmachine.ResourceUsage{CPU: "2", Memory: "3815Mi"}},
		} {
			used.Store(&driver.Status{State: driver.Running, CPUPercentage: c.cpu, MemoryPercentage: c.memory})
			time.Sleep(2 * period)
			assert.Equal(w.t, c.want, w.get("a").Status.Server.Usage)
		}
	})
}

// The schema of crd.yaml refuses an invalid machine before the controller sees it.
func TestWhatTheSchemaRefuses(t *testing.T) {
	inBubble(t, func(w *world) {
		create := func(resource string) error {
			_, err := w.Request("POST", "/apis/cloudnative.tw/v1alpha1/namespaces/default/virtualmachines",
				`{"apiVersion":"cloudnative.tw/v1alpha1","kind":"VirtualMachine","metadata":{"generateName":"a-"},`+
					`"spec":{"resource":`+resource+`}}`)
			return err
		}
		for _, resource := range []string{
			`{"cpu":2,"memory":"4G"}`, `{"cpu":"500m","memory":1073741824}`, `{"cpu":"1e3","memory":"1.5Gi"}`,
		} {
			require.NoError(w.t, create(resource), resource)
		}
		for field, resource := range map[string]string{
			"spec.resource.memory":                `{"cpu":2}`,
			"spec.resource.cpu":                   `{"cpu":"many","memory":"4G"}`,
			"spec.resource":                       `"large"`,
			"spec.resource.memory: Invalid value": `{"cpu":2,"memory":true}`,
		} {
			err := create(resource)
			assert.True(w.t, api.IsInvalid(err), "%v: %v", resource, err)
			assert.ErrorContains(w.t, err, field)
		}
		vm := w.create("b")
		vm.Status.Phase = "Dancing"
		_, err := w.user.UpdateStatus(w.t.Context(), vm, api.UpdateOptions{})
		assert.True(w.t, api.IsInvalid(err), "%v", err)
	})
}

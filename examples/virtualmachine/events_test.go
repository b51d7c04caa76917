package virtualmachine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// An update triggers a pass if the spec has changed, if the object was deleted, or if it is
// another object of the same name.
func TestWhichUpdatesAskForMore(t *testing.T) {
	now := api.NewTime(time.Now())
	old := &VirtualMachine{ObjectMeta: api.ObjectMeta{UID: "1", Generation: 1}}
	for name, c := range map[string]struct {
		change func(*VirtualMachine)
		want   bool
	}{
		"nothing":         {func(*VirtualMachine) {}, false},
		"the status":      {func(vm *VirtualMachine) { vm.Status.Phase = VirtualMachineActive }, false},
		"labels":          {func(vm *VirtualMachine) { vm.Labels = map[string]string{"a": "b"} }, false},
		"the spec":        {func(vm *VirtualMachine) { vm.Generation = 2 }, true},
		"the deletion":    {func(vm *VirtualMachine) { vm.DeletionTimestamp = &now }, true},
		"another object":  {func(vm *VirtualMachine) { vm.UID = "2" }, true},
		"our finalizer":   {func(vm *VirtualMachine) { vm.Finalizers = []string{finalizerName} }, false},
		"just a reminder": {func(vm *VirtualMachine) { vm.ResourceVersion = "7" }, false},
	} {
		changed := old.DeepCopy()
		c.change(changed)
		assert.Equal(t, c.want, asksForMore(old, changed), name)
	}
}

// A driver takes names of at most 100 characters, and an object may have 253.
func TestNamesOfServers(t *testing.T) {
	const uid = "0a4c3f6e-2b1d-4e5f-8a7b-9c0d1e2f3a4b"
	for name, want := range map[string]string{
		"web":                                  "web-" + uid,
		strings.Repeat("a", 253):               strings.Repeat("a", 60) + "-" + uid,
		strings.Repeat("a", 59) + ".b":         strings.Repeat("a", 59) + "-" + uid,
		strings.Repeat("a", 58) + "--" + "bcd": strings.Repeat("a", 58) + "-" + uid,
	} {
		vm := &VirtualMachine{ObjectMeta: api.ObjectMeta{Name: name, UID: uid}}
		assert.Equal(t, want, serverName(vm))
		assert.LessOrEqual(t, len(serverName(vm)), 100)
	}
}

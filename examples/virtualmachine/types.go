package virtualmachine

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

// Resource is the resource that crd.yaml defines.
var Resource = api.GroupVersionResource{Group: "cloudnative.tw", Version: "v1alpha1", Resource: "virtualmachines"}

// CustomResourceDefinition is crd.yaml.
//
//go:embed crd.yaml
var CustomResourceDefinition []byte

// Kind is the kind of the objects, for object references.
const Kind = "VirtualMachine"

// VirtualMachine is a machine outside the cluster: its desired state (Spec), and its observed state
// (Status).
type VirtualMachine struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
	Spec           VirtualMachineSpec   `json:"spec"`
	Status         VirtualMachineStatus `json:"status,omitzero"`
}

// VirtualMachineSpec is the desired state.
type VirtualMachineSpec struct {
	Resource ResourceList `json:"resource"`
}

// ResourceList is the size of a machine.
type ResourceList struct {
	CPU    Quantity `json:"cpu,omitempty"`
	Memory Quantity `json:"memory,omitempty"`
}

// VirtualMachinePhase is a phase in the life of a machine.
type VirtualMachinePhase string

// The phases.
const (
	VirtualMachineNone        VirtualMachinePhase = ""            // the controller has not seen the object
	VirtualMachinePending     VirtualMachinePhase = "Pending"     // the machine is being created
	VirtualMachineActive      VirtualMachinePhase = "Active"      // the machine runs
	VirtualMachineFailed      VirtualMachinePhase = "Failed"      // it could not be created, or has ended
	VirtualMachineTerminating VirtualMachinePhase = "Terminating" // the machine is being deleted
)

// VirtualMachineStatus is the observed state.
type VirtualMachineStatus struct {
	Phase VirtualMachinePhase `json:"phase,omitempty"`
	// Reason says why the phase is Failed, or what prevents the next step.
	Reason string `json:"reason,omitempty"`
	// ObservedGeneration is the metadata.generation for which the machine, if there is one, was
	// created.
	ObservedGeneration int64        `json:"observedGeneration,omitempty"`
	Server             ServerStatus `json:"server,omitzero"`
}

// ServerStatus is the machine itself.
type ServerStatus struct {
	ID    string        `json:"id,omitempty"`
	State driver.State  `json:"state,omitempty"`
	Usage ResourceUsage `json:"usage,omitzero"`
}

// ResourceUsage is what the machine uses, as quantities: 250m, 12Mi. (The article has percentages.)
type ResourceUsage struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (vm *VirtualMachine) DeepCopy() *VirtualMachine {
	copied := *vm
	copied.ObjectMeta = vm.ObjectMeta.DeepCopy()
	return &copied
}

// Quantity is an amount of a resource in its JSON form: 2, "500m" or "4Gi", with the quotes. A
// client that reads 2 and writes "2" back would change the spec.
type Quantity string

// UnmarshalJSON keeps the JSON.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	*q = Quantity(data)
	return nil
}

// MarshalJSON returns the JSON, String the same without quotes.
func (q Quantity) MarshalJSON() ([]byte, error) { return []byte(q), nil }
func (q Quantity) String() string               { return strings.Trim(string(q), `"`) }

var units = map[string]float64{
	"": 1, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

// In returns the amount in units of a size, rounded: In(1) bytes, In(0.001) thousandths of a CPU.
func (q Quantity) In(size float64) (int64, error) {
	text := q.String()
	digits := strings.TrimRight(text, "numkKMGTPEi")
	unit, known := units[text[len(digits):]]
	amount, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || strings.Trim(digits, "0123456789.+-eE") != "" {
		return 0, fmt.Errorf("%q is not a quantity such as 2, 500m or 4Gi", text)
	}
	amount = math.Round(amount * unit / size)
	if amount < 1 || amount >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is out of range", text)
	}
	return int64(amount), nil
}

// cpuUsed returns a share of a CPU quantity as a quantity, such as 250m.
func cpuUsed(percent float64, of Quantity) string {
	asked, _ := of.In(0.001) // a machine was made of it
	used := int64(math.Round(percent / 100 * float64(asked)))
	if used%1000 == 0 {
		return strconv.FormatInt(used/1000, 10)
	}
	return strconv.FormatInt(used, 10) + "m"
}

// memoryUsed returns a share of a memory quantity as a quantity, such as 12Mi.
func memoryUsed(percent float64, of Quantity) string {
	asked, _ := of.In(1)
	used := percent / 100 * float64(asked)
	for _, unit := range []string{"Mi", "Ki"} {
		if count := int64(math.Round(used / units[unit])); count > 0 {
			return strconv.FormatInt(count, 10) + unit
		}
	}
	return "0"
}

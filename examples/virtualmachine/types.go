package virtualmachine

import (
	_ "embed"

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

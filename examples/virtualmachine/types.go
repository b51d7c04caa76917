package virtualmachine

import (
	_ "embed"

	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

// Resource is where the API server has the machines, once it knows crd.yaml.
var Resource = api.GroupVersionResource{Group: "cloudnative.tw", Version: "v1alpha1", Resource: "virtualmachines"}

// CustomResourceDefinition is crd.yaml.
//
//go:embed crd.yaml
var CustomResourceDefinition []byte

// Kind is the kind of the objects, for references to them.
const Kind = "VirtualMachine"

// VirtualMachine is a machine outside the cluster, as a user wants it (Spec) and as the controller
// found it (Status).
type VirtualMachine struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
	Spec           VirtualMachineSpec   `json:"spec"`
	Status         VirtualMachineStatus `json:"status,omitzero"`
}

// VirtualMachineSpec is what a user asks for.
type VirtualMachineSpec struct {
	Resource ResourceList `json:"resource"`
}

// ResourceList is the size of a machine.
type ResourceList struct {
	CPU    Quantity `json:"cpu,omitempty"`
	Memory Quantity `json:"memory,omitempty"`
}

// VirtualMachinePhase is where a machine is in its life.
type VirtualMachinePhase string

// The phases.
const (
	VirtualMachineNone        VirtualMachinePhase = ""            // the controller has not seen the object; there is no machine
	VirtualMachinePending     VirtualMachinePhase = "Pending"     // the machine is being created
	VirtualMachineActive      VirtualMachinePhase = "Active"      // the machine runs
	VirtualMachineFailed      VirtualMachinePhase = "Failed"      // it could not be created, or has ended; the controller tries again
	VirtualMachineTerminating VirtualMachinePhase = "Terminating" // the object was deleted, and the machine is being deleted
)

// VirtualMachineStatus is what the controller has found and done.
type VirtualMachineStatus struct {
	Phase VirtualMachinePhase `json:"phase,omitempty"`
	// Reason says why the phase is Failed, or what keeps the controller from going on.
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
	Usage ResourceUsage `json:"usage"`
}

// ResourceUsage is what the machine uses, in percent of what the spec asks for.
type ResourceUsage struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (vm *VirtualMachine) DeepCopy() *VirtualMachine {
	copied := *vm
	copied.ObjectMeta = vm.ObjectMeta.DeepCopy()
	return &copied
}

package api

import (
	"encoding/json"
	"reflect"
)

// Lease says who holds something, and until when he has to say so again. Leader election and the heartbeats of nodes
// are made of Leases.
//
// It is written back as a whole. Fields of a newer API that it does not declare are carried along, as in [Namespace].
type Lease struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       LeaseSpec `json:"spec"`

	unknown unknownFields
}

// LeaseSpec is what a holder writes. All fields are optional to the server; nil and empty ones are not sent.
type LeaseSpec struct {
	// HolderIdentity is who holds the Lease; empty: nobody.
	HolderIdentity string `json:"holderIdentity,omitempty"`
	// LeaseDurationSeconds is how long others leave a holder alone after RenewTime moved. They measure it with their own
	// clocks, from when they saw it move.
	LeaseDurationSeconds *int32 `json:"leaseDurationSeconds,omitempty"`
	// AcquireTime is when the holder became the holder, RenewTime when it last said that it still is, both by its own clock.
	AcquireTime *MicroTime `json:"acquireTime,omitempty"`
	RenewTime   *MicroTime `json:"renewTime,omitempty"`
	// LeaseTransitions counts the changes of the holder.
	LeaseTransitions *int32 `json:"leaseTransitions,omitempty"`
	// Strategy and PreferredHolder belong to coordinated leader election (KEP-4355) and are carried along.
	Strategy        *string `json:"strategy,omitempty"`
	PreferredHolder *string `json:"preferredHolder,omitempty"`
}

// plainLease is Lease without its methods, for encoding/json.
type plainLease Lease

var leaseSchema = schemaOf(reflect.TypeFor[plainLease]())

// UnmarshalJSON reads a Lease and keeps what it does not know.
func (l *Lease) UnmarshalJSON(data []byte) error {
	var plain plainLease
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	unknown, err := leaseSchema.collect(data)
	if err != nil {
		return err
	}
	*l = Lease(plain)
	l.unknown = unknown
	return nil
}

// MarshalJSON writes the Lease with what it did not know when it was read.
func (l Lease) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(plainLease(l))
	if err != nil {
		return nil, err
	}
	return l.unknown.merge(data)
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (l *Lease) DeepCopy() *Lease {
	out := *l
	out.ObjectMeta = l.ObjectMeta.DeepCopy()
	out.Spec.LeaseDurationSeconds = clonePointer(l.Spec.LeaseDurationSeconds)
	out.Spec.AcquireTime = clonePointer(l.Spec.AcquireTime)
	out.Spec.RenewTime = clonePointer(l.Spec.RenewTime)
	out.Spec.LeaseTransitions = clonePointer(l.Spec.LeaseTransitions)
	out.Spec.Strategy = clonePointer(l.Spec.Strategy)
	out.Spec.PreferredHolder = clonePointer(l.Spec.PreferredHolder)
	return &out
}

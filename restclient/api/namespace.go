package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Namespace is a scope for names and the unit that the namespace controller deletes.
//
// It is the one type here that is written back as a whole. Fields of a newer API that it does not declare (in the
// document, metadata, spec and status) are carried along, so that a status update does not erase them.
type Namespace struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       NamespaceSpec   `json:"spec"`
	Status     NamespaceStatus `json:"status"`

	unknown unknownFields
}

// plainNamespace is Namespace without its methods, for encoding/json.
type plainNamespace Namespace

var namespaceSchema = schemaOf(reflect.TypeFor[plainNamespace]())

// UnmarshalJSON reads a namespace and keeps what it does not know.
func (n *Namespace) UnmarshalJSON(data []byte) error {
	var plain plainNamespace
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	unknown, err := namespaceSchema.collect(data)
	if err != nil {
		return err
	}
	*n = Namespace(plain)
	n.unknown = unknown
	return nil
}

// MarshalJSON writes the namespace with what it did not know when it was read.
func (n Namespace) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(plainNamespace(n))
	if err != nil {
		return nil, err
	}
	return n.unknown.merge(data)
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (n *Namespace) DeepCopy() *Namespace {
	out := *n
	out.ObjectMeta = n.ObjectMeta.DeepCopy()
	out.Spec.Finalizers = slices.Clone(n.Spec.Finalizers)
	out.Status.Conditions = slices.Clone(n.Status.Conditions)
	return &out
}

// NamespaceSpec holds the tokens that keep a namespace from vanishing.
type NamespaceSpec struct {
	// Finalizers must be empty before the server removes the object. Each party removes its own token through
	// the finalize subresource; the controller of this project owns [FinalizerKubernetes].
	Finalizers []string `json:"finalizers,omitempty"`
}

// NamespaceStatus is what the controller reports.
type NamespaceStatus struct {
	Phase      NamespacePhase       `json:"phase,omitempty"`
	Conditions []NamespaceCondition `json:"conditions,omitempty"`
}

// NamespacePhase is the coarse state of a namespace.
type NamespacePhase string

// The two phases there are.
const (
	NamespaceActive      NamespacePhase = "Active"
	NamespaceTerminating NamespacePhase = "Terminating"
)

// FinalizerKubernetes is the token of the namespace controller itself in spec.finalizers.
const FinalizerKubernetes = "kubernetes"

// NamespaceConditionType names one aspect of a deletion.
type NamespaceConditionType string

// The conditions that the namespace controller writes while it deletes.
const (
	NamespaceDeletionDiscoveryFailure NamespaceConditionType = "NamespaceDeletionDiscoveryFailure"
	NamespaceDeletionGVParsingFailure NamespaceConditionType = "NamespaceDeletionGroupVersionParsingFailure"
	NamespaceDeletionContentFailure   NamespaceConditionType = "NamespaceDeletionContentFailure"
	NamespaceContentRemaining         NamespaceConditionType = "NamespaceContentRemaining"
	NamespaceFinalizersRemaining      NamespaceConditionType = "NamespaceFinalizersRemaining"
)

// NamespaceCondition is one observation about a deletion.
type NamespaceCondition struct {
	Type               NamespaceConditionType `json:"type"`
	Status             ConditionStatus        `json:"status"`
	LastTransitionTime Time                   `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// ConditionStatus says whether a condition holds.
type ConditionStatus string

// The three truth values of a condition.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// unknownFields holds what a document has and this package's types do not: a newer server's fields. An object that is
// read, changed and put back must not lose them. Keys are the parent ("" is the document itself) and the field's
// name. Like the rest of a decoded object it is never changed after decoding, so copies may share it.
type unknownFields map[string]map[string]json.RawMessage

// schema says which fields are known, by parent.
type schema map[string]map[string]bool

// schemaOf reads a struct's JSON tags, and those of the structs one level below.
func schemaOf(object reflect.Type) schema {
	known := schema{"": fieldsOf(object)}
	for _, field := range reflect.VisibleFields(object) {
		if name := jsonName(field); name != "" && field.Type.Kind() == reflect.Struct {
			known[name] = fieldsOf(field.Type)
		}
	}
	return known
}

func fieldsOf(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for i := range t.NumField() {
		field := t.Field(i)
		if name := jsonName(field); name != "" {
			names[name] = true
		} else if field.Anonymous {
			for name := range fieldsOf(field.Type) {
				names[name] = true
			}
		}
	}
	return names
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// collect returns what data has besides the known fields; nil if there is nothing.
func (s schema) collect(data []byte) (unknownFields, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	var unknown unknownFields
	for name, value := range document {
		if !s[""][name] {
			unknown = unknown.with("", name, value)
			continue
		}
		known, deeper := s[name]
		if !deeper {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil {
			return nil, err
		}
		for field, value := range fields {
			if !known[field] {
				unknown = unknown.with(name, field, value)
			}
		}
	}
	return unknown, nil
}

func (u unknownFields) with(parent, name string, value json.RawMessage) unknownFields {
	if u == nil {
		u = unknownFields{}
	}
	if u[parent] == nil {
		u[parent] = map[string]json.RawMessage{}
	}
	u[parent][name] = value
	return u
}

// merge adds the fields to a document that was written without them.
func (u unknownFields) merge(data []byte) ([]byte, error) {
	if len(u) == 0 {
		return data, nil
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	for parent, fields := range u {
		target := document
		if parent != "" {
			target = nil
			if err := json.Unmarshal(document[parent], &target); err != nil {
				return nil, err
			}
		}
		for name, value := range fields {
			target[name] = value
		}
		if parent != "" {
			merged, err := json.Marshal(target)
			if err != nil {
				return nil, err
			}
			document[parent] = merged
		}
	}
	return json.Marshal(document)
}

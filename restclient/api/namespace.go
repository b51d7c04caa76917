package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Namespace is a scope for names and the unit that the namespace controller deletes.
//
// It is the one type here that is written back as a whole. Fields of a newer API that it does not
// declare (in the document, metadata, spec and status) are preserved, so that a status update does
// not erase them.
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

// UnmarshalJSON decodes a namespace and preserves unknown fields.
func (n *Namespace) UnmarshalJSON(data []byte) error {
	var plain plainNamespace
	unknown, err := namespaceSchema.decode(data, &plain)
	if err == nil {
		*n = Namespace(plain)
		n.unknown = unknown
	}
	return err
}

// MarshalJSON encodes the namespace with its unknown fields.
func (n Namespace) MarshalJSON() ([]byte, error) {
	return n.unknown.encode(plainNamespace(n))
}

// DeepCopy returns a copy that shares no mutable data.
func (n *Namespace) DeepCopy() *Namespace {
	out := *n
	out.ObjectMeta = n.ObjectMeta.DeepCopy()
	out.Spec.Finalizers = slices.Clone(n.Spec.Finalizers)
	out.Status.Conditions = slices.Clone(n.Status.Conditions)
	return &out
}

// NamespaceSpec has the tokens that delay the removal of a namespace.
type NamespaceSpec struct {
	// Finalizers must be empty before the server removes the object. Each party removes its own
	// token through the finalize subresource; the controller of this project owns
	// [FinalizerKubernetes].
	Finalizers []string `json:"finalizers,omitempty"`
}

// NamespaceStatus is the controller's report.
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

// unknownFields are the fields of a document that this package's types do not declare. An object
// that is read, changed and written must not lose them. Keys are the parent ("" is the document
// itself) and the field's name. They never change after decoding, so copies may share them.
type unknownFields map[string]map[string]json.RawMessage

// schema has the known fields, by parent.
type schema map[string]map[string]bool

// schemaOf returns a struct's JSON fields, and those of the structs one level below.
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

// decode decodes a document into a struct, and returns the unknown fields.
func (s schema) decode(data []byte, into any) (unknownFields, error) {
	if err := json.Unmarshal(data, into); err != nil {
		return nil, err
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	var unknown unknownFields // nil if there are none, which leaves objects comparable
	for parent, known := range s {
		fields, err := fieldsBelow(document, parent)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return known[name] })
		if len(fields) > 0 {
			if unknown == nil {
				unknown = unknownFields{}
			}
			unknown[parent] = fields
		}
	}
	return unknown, nil
}

// encode encodes a struct with its unknown fields.
func (u unknownFields) encode(object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil || len(u) == 0 {
		return data, err
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	maps.Copy(document, u[""])
	for parent, unknown := range u {
		if parent == "" {
			continue
		}
		fields, err := fieldsBelow(document, parent)
		if err != nil {
			return nil, err
		}
		maps.Copy(fields, unknown)
		if document[parent], err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	return json.Marshal(document)
}

// fieldsBelow returns a copy of the fields of the object at parent; "" is the document.
func fieldsBelow(document map[string]json.RawMessage, parent string) (fields map[string]json.RawMessage, err error) {
	if parent == "" {
		return maps.Clone(document), nil
	}
	if value, ok := document[parent]; ok {
		err = json.Unmarshal(value, &fields)
	}
	return fields, err
}

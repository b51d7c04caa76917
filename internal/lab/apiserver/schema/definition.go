package schema

import (
	"strings"
)

// definition is a line of the recorded file: a type as kube-apiserver publishes it, and what its Go type adds.
type definition struct {
	Name    string            `json:"name"`
	Schema  map[string]any    `json:"schema"`
	Types   map[string]string `json:"types"`   // Go types of fields that the schema does not suggest
	Inside  map[string]string `json:"inside"`  // the embedded structs that fields came from
	Omitted []string          `json:"omitted"` // fields that vanish when they are empty
	Always  []string          `json:"always"`  // fields that are written whatever their value is
}

// goName is the type as Go prints it: io.k8s.api.core.v1.PodSpec is v1.PodSpec.
func (d *definition) goName() string {
	parts := strings.Split(d.Name, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

const referencePrefix = "#/components/schemas/"

// reference returns the name of the definition that a schema is, alone or wrapped into allOf to carry other members.
func reference(schema map[string]any) string {
	if all, ok := schema["allOf"].([]any); ok && len(all) == 1 {
		schema, _ = all[0].(map[string]any)
	}
	name, _ := schema["$ref"].(string)
	return strings.TrimPrefix(name, referencePrefix)
}

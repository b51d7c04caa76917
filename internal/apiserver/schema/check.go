package schema

// Findings is what is wrong with a document.
type Findings struct {
	// Unknown has a sentence for every field that the type does not have, such as `unknown field "spec.replica"`. The
	// server refuses the document, warns, or drops the fields, as the client asked by fieldValidation.
	Unknown []string
	// TypeError says which value does not fit its field, in the words in which kube-apiserver decodes: `json: cannot
	// unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`. Nil if all fit. Such a document
	// is always refused.
	TypeError error
}

// Check compares a document with its type.
func (t *Type) Check(tree map[string]any) Findings { return Findings{} }

// Prune removes the fields that the type does not have, in place.
func (t *Type) Prune(tree map[string]any) {}

// Duplicates returns a sentence for every key that an object of the JSON document has more than once, such as
// `duplicate field "metadata.name"`.
func Duplicates(data []byte) []string { return nil }

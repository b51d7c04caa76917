package negotiation

// Form is how an answer is to look.
type Form struct {
	// YAML instead of JSON.
	YAML bool
	// As is the kind to convert to; "" for the object as it is.
	As Conversion
	// Version is that of meta.k8s.io to convert to, "v1" or "v1beta1".
	Version string
	// Pretty indents JSON, for people.
	Pretty bool
}

// Conversion is another kind that an object can be sent as.
type Conversion string

// The conversions.
const (
	Table                     Conversion = "Table"
	PartialObjectMetadata     Conversion = "PartialObjectMetadata"
	PartialObjectMetadataList Conversion = "PartialObjectMetadataList"
)

// MediaType is the Content-Type of the answer.
func (f Form) MediaType() string {
	if f.YAML {
		return "application/yaml"
	}
	return "application/json"
}

package resources

import (
	"orrery/restclient/api"
)

// Strategy has the hooks for writes of a type. The registry calls them in this order: Default, one
// Prepare hook, one or both Validate hooks. Every hook may be nil. Hooks change o in place and must
// not change old; what they take from old they must copy.
//
// The registry handles name, namespace, UID, creationTimestamp, resourceVersion and the fields of a
// deletion, and calls [MetaUpdateValidation].
type Strategy struct {
	// Default sets the defaults of absent fields, on every write.
	Default func(o *api.Unstructured)
	// PrepareCreate resets what clients may not set at creation.
	PrepareCreate func(o *api.Unstructured)
	// PrepareUpdate keeps what only subresources may change, and updates the generation.
	PrepareUpdate func(o, old *api.Unstructured)
	// PrepareStatus keeps everything but the status.
	PrepareStatus func(o, old *api.Unstructured)
	// PrepareFinalize keeps everything but the finalizers.
	PrepareFinalize func(o, old *api.Unstructured)

	// Validate validates a new object. [ObjectMetaValidation] has validated its metadata before.
	Validate func(o *api.Unstructured) []FieldError
	// ValidateUpdate validates the change from old to o; it calls Validate if that is part of it.
	ValidateUpdate func(o, old *api.Unstructured) []FieldError
	// ValidateStatusUpdate is ValidateUpdate for the status subresource.
	ValidateStatusUpdate func(o, old *api.Unstructured) []FieldError
	// ValidateFinalizeUpdate is ValidateUpdate for the finalize subresource.
	ValidateFinalizeUpdate func(o, old *api.Unstructured) []FieldError
	// Warnings returns warnings for a valid object.
	Warnings func(o *api.Unstructured) []string
	// ValidateName validates metadata.name; nil means a DNS subdomain.
	ValidateName NameRule

	// LooseFinalizers allows finalizers without a domain. Custom resources may have them too, with
	// a warning ([Warnings]).
	LooseFinalizers bool

	// GraceSeconds returns the grace period of a DELETE that asked for the given one, nil if none.
	// A nil hook means no grace period.
	GraceSeconds func(o *api.Unstructured, asked *int64) int64
	// DefaultPropagation is the propagation policy of a DELETE without one; "" means Background.
	DefaultPropagation api.DeletePropagation
	// AllowUnconditionalUpdate lets an update omit the resourceVersion.
	AllowUnconditionalUpdate bool
}

// NameRule validates a name and returns the messages.
type NameRule func(name string) []string

// keepStatus keeps the stored status.
func keepStatus(o, old *api.Unstructured) { keep(o, old, "status") }

func isHead(key string) bool { return key == "kind" || key == "apiVersion" || key == "metadata" }

func setGeneration(o *api.Unstructured, generation int64) {
	if o.Object != nil {
		ensure(o.Object, "metadata")["generation"] = generation
	}
}

// nextGeneration keeps the generation, and increments it after a change.
func nextGeneration(o, old *api.Unstructured, changed bool) {
	generation := integer(child(old.Object, "metadata"), "generation")
	if changed {
		generation++
	}
	if generation > 0 {
		setGeneration(o, generation)
	}
}

// statusKeepsMetadata returns a PrepareStatus hook that keeps the stored fields except for the
// status and the metadata, of which it keeps the given fields.
func statusKeepsMetadata(keys ...string) func(o, old *api.Unstructured) {
	return func(o, old *api.Unstructured) {
		for key := range o.Object {
			if _, stored := old.Object[key]; !stored && !isHead(key) && key != "status" {
				delete(o.Object, key)
			}
		}
		for key := range old.Object {
			if !isHead(key) && key != "status" {
				keep(o, old, key)
			}
		}
		for _, key := range keys {
			keep(o, old, "metadata", key)
		}
	}
}

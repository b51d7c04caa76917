package resources

import "orrery/restclient/api"

// keepStatus keeps the stored status.
func keepStatus(o, old *api.Unstructured) { keep(o, old, "status") }

// keepAllButStatus keeps the stored fields except for the metadata and the status.
func keepAllButStatus(o, old *api.Unstructured) {
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
}

func isHead(key string) bool { return key == "kind" || key == "apiVersion" || key == "metadata" }

// firstGeneration sets the generation of a new object.
func firstGeneration(o *api.Unstructured) { setGeneration(o, 1) }

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

func specChanged(o, old *api.Unstructured) bool { return !same(o.Nested("spec"), old.Nested("spec")) }

// statusKeepsMetadata returns a PrepareStatus hook that also keeps the given metadata fields.
func statusKeepsMetadata(keys ...string) func(o, old *api.Unstructured) {
	return func(o, old *api.Unstructured) {
		keepAllButStatus(o, old)
		for _, key := range keys {
			keep(o, old, "metadata", key)
		}
	}
}

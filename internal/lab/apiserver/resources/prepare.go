package resources

import "orrery/restclient/api"

// keepStatus keeps the stored status on a write to the object itself.
func keepStatus(o, old *api.Unstructured) { keep(o, old, "status") }

// keepAllButStatus keeps, on a write to the status, the stored fields of the object outside of its metadata.
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

// firstGeneration starts to count the changes of an object's spec.
func firstGeneration(o *api.Unstructured) { setGeneration(o, 1) }

func setGeneration(o *api.Unstructured, generation int64) {
	if o.Object != nil {
		made(o.Object, "metadata")["generation"] = generation
	}
}

// nextGeneration keeps the generation, one higher if the object has changed.
func nextGeneration(o, old *api.Unstructured, changed bool) {
	generation := whole(child(old.Object, "metadata"), "generation")
	if changed {
		generation++
	}
	if generation > 0 {
		setGeneration(o, generation)
	}
}

// specChanged tells whether the spec is another one.
func specChanged(o, old *api.Unstructured) bool { return !same(o.Nested("spec"), old.Nested("spec")) }

// statusKeepsMetadata makes a PrepareStatus that leaves the metadata as it is stored, too: labels, annotations,
// finalizers, owner references.
func statusKeepsMetadata(keys ...string) func(o, old *api.Unstructured) {
	return func(o, old *api.Unstructured) {
		keepAllButStatus(o, old)
		for _, key := range keys {
			keep(o, old, "metadata", key)
		}
	}
}

// keepAllBut keeps, on a write to a subresource, the stored object but for one place of it.
func keepAllBut(path ...string) func(o, old *api.Unstructured) {
	return func(o, old *api.Unstructured) {
		wanted := cloneValue(o.Nested(path...))
		for _, key := range sortedKeys(o.Object) {
			if !isHead(key) {
				delete(o.Object, key)
			}
		}
		keepAllButStatus(o, old)
		keepStatus(o, old)
		if wanted != nil {
			_ = o.SetNested(wanted, path...)
		}
	}
}

// keepAllButResources keeps, on a write to the size of a pod, everything but the resources of its containers.
func keepAllButResources(o, old *api.Unstructured) {
	wanted := map[string]any{}
	for _, container := range items(child(o.Object, "spec"), "containers") {
		wanted[text(container, "name")] = cloneValue(container["resources"])
	}
	keepAllBut("spec")(o, old)
	keep(o, old, "spec")
	for _, container := range items(child(o.Object, "spec"), "containers") {
		if resources := wanted[text(container, "name")]; resources != nil {
			container["resources"] = resources
		}
	}
}

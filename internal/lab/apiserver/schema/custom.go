package schema

// Custom returns the type of a custom resource from the openAPIV3Schema of its definition, which
// may be nil. It serves to find and prune unknown fields. Mismatches are found in the metadata
// only; package structural validates the rest.
func Custom(openAPIV3Schema map[string]any) *Type {
	t := &Type{kind: Any, custom: true}
	if openAPIV3Schema != nil {
		t = structural(openAPIV3Schema)
	}
	if t.kind == Any { // any object is accepted, but its metadata is checked
		t.kind, t.element = Object, &Type{custom: true}
	}
	root := *t
	root.fields = map[string]*Type{}
	for name, field := range t.fields {
		root.fields[name] = field
	}
	addMeta(root.fields)
	return &root
}

// addMeta adds the fields of every object.
func addMeta(fields map[string]*Type) {
	fields["kind"], fields["apiVersion"] = &Type{custom: true}, &Type{custom: true}
	fields["metadata"] = Builtin().types[objectMetaName]
}

// structural converts a schema of a CustomResourceDefinition.
func structural(schema map[string]any) *Type {
	t := &Type{custom: true}
	t.ownership(schema)
	preserve, _ := schema["x-kubernetes-preserve-unknown-fields"].(bool)
	properties, _ := schema["properties"].(map[string]any)
	switch schema["type"] {
	case "array":
		t.kind = Array
		items, _ := schema["items"].(map[string]any)
		t.element = structural(items)
	case "object":
		t.kind = Object
		if values, ok := schema["additionalProperties"].(map[string]any); ok {
			t.element = structural(values)
		} else if free, _ := schema["additionalProperties"].(bool); free || preserve {
			t.element = &Type{custom: true}
		}
		t.fields = map[string]*Type{}
		for name, property := range properties {
			inner, _ := property.(map[string]any)
			t.fields[name] = structural(inner)
		}
		if embedded, _ := schema["x-kubernetes-embedded-resource"].(bool); embedded {
			addMeta(t.fields)
		}
	}
	return t
}

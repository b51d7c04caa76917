package resources

import (
	"encoding/json"
	"strings"

	"orrery/restclient/api"
)

// The directives of a strategic merge patch.
const (
	directive        = "$patch"      // merge (lists only), replace, delete
	retainKeys       = "$retainKeys" // the only keys to keep
	setElementOrder  = "$setElementOrder/"
	deleteFromValues = "$deleteFromPrimitiveList/"
)

// strategicDocument parses the patch. null changes nothing.
func strategicDocument(data []byte) (map[string]any, error) {
	var readable map[string]any
	if err := json.Unmarshal(data, &readable); err != nil {
		return nil, BadRequest(err.Error())
	}
	// api.Unstructured decodes numbers as in documents.
	patch := &api.Unstructured{}
	if err := json.Unmarshal(data, patch); err != nil {
		return nil, BadRequest(err.Error())
	}
	return patch.Object, nil
}

// mergeMaps merges the patch into the document and returns it, or another one if a directive says
// so. It changes both arguments.
func mergeMaps(document, patch map[string]any, t *Type) (map[string]any, error) {
	if what, ok := patch[directive]; ok {
		return directed(patch, what)
	}
	if err := retain(document, patch); err != nil {
		return nil, err
	}
	if err := mergeOrdered(document, patch, t); err != nil {
		return nil, err
	}
	// Deletions come first, so that the result does not depend on map order.
	for key, value := range patch {
		name, deleting := strings.CutPrefix(key, deleteFromValues)
		if !deleting {
			continue
		}
		if err := deleteValues(document, name, value, t); err != nil {
			return nil, err
		}
		delete(patch, key)
	}
	for name, value := range patch {
		if err := mergeField(document, name, value, t); err != nil {
			return nil, err
		}
	}
	return document, nil
}

// mergeField merges one field of the patch.
func mergeField(document map[string]any, name string, value any, t *Type) error {
	current, there := document[name]
	switch {
	case value == nil || isDirected(value) && (!there || JSONType(current) != "object"):
		delete(document, name)
	case there && JSONType(current) == JSONType(value):
		inner, known := t.Field(name)
		if !known {
			return unknownField(t, name)
		}
		merged, err := mergeValues(current, value, inner, false)
		if err != nil {
			return err
		}
		document[name] = merged
	default:
		document[name] = plain(value)
	}
	return nil
}

// deleteValues removes the values of a $deleteFromPrimitiveList.
func deleteValues(document map[string]any, name string, value any, t *Type) error {
	current, there := document[name]
	switch {
	case value == nil:
		delete(document, name)
	case there && JSONType(current) == JSONType(value):
		inner, _ := t.Field(name)
		left, err := mergeValues(current, value, inner, true)
		if err != nil {
			return err
		}
		document[name] = left
	}
	return nil
}

func unknownField(t *Type, name string) error {
	return impossible("unable to find api field in struct %s for the json field %q", t.Name(), name)
}

// directed returns the result of a map with a $patch directive.
func directed(patch map[string]any, what any) (map[string]any, error) {
	switch what {
	case "replace":
		delete(patch, directive)
		return patch, nil
	case "delete":
		return map[string]any{}, nil
	}
	return nil, impossible("unknown patch type: %s in map: %v", what, patch)
}

// retain removes the keys that $retainKeys does not list.
func retain(document, patch map[string]any) error {
	value, ok := patch[retainKeys]
	if !ok {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		return BadRequest("invalid patch format of retainKeys")
	}
	delete(patch, retainKeys)
	keys := positionsOf(list, "")
	for key := range document {
		if _, ok := keys[key]; !ok {
			delete(document, key)
		}
	}
	return nil
}

// mergeValues merges two values of the same JSON type.
func mergeValues(current, value any, t *Type, deleting bool) (any, error) {
	switch patch := value.(type) {
	case map[string]any:
		if t.PatchStrategy().Replace {
			return patch, nil
		}
		return mergeMaps(current.(map[string]any), patch, t)
	case []any:
		if !t.PatchStrategy().Merge && !deleting {
			return patch, nil
		}
		return mergeLists(current.([]any), patch, t, deleting)
	}
	return value, nil
}

// plain removes from a new value what has no meaning there: nulls and $patch directives.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil || isDirected(inner) {
				delete(v, key)
				continue
			}
			v[key] = plain(inner)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, inner := range v {
			if !isDirected(inner) {
				kept = append(kept, plain(inner))
			}
		}
		return kept
	}
	return value
}

func isDirected(value any) bool {
	v, ok := value.(map[string]any)
	return ok && holds(v, directive)
}

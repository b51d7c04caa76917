package resources

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// The directives of a strategic merge patch.
const (
	directive        = "$patch"      // replace, delete
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
	switch what, directed := patch[directive]; {
	case what == "replace":
		delete(patch, directive)
		return patch, nil
	case what == "delete":
		return map[string]any{}, nil
	case directed:
		return nil, impossible("unknown patch type: %s in map: %v", what, patch)
	}
	// The directives come first, because $ sorts before letters.
	order := map[string][]any{}
	for _, key := range sortedKeys(patch) {
		value := patch[key]
		list, isList := value.([]any)
		name := key[strings.IndexByte(key, '/')+1:]
		switch {
		case !strings.HasPrefix(key, "$"):
			if err := mergeField(document, key, value, t); err != nil {
				return nil, err
			}
		case !isList && key == retainKeys:
			return nil, BadRequest("invalid patch format of retainKeys")
		case !isList:
			return nil, impossible("expected a []interface {}, but received a %T", value)
		case key == retainKeys:
			kept := positionsOf(list, "")
			maps.DeleteFunc(document, func(name string, _ any) bool { return !kept.has(name, "") })
		case strings.HasPrefix(key, deleteFromValues):
			current, _ := document[name].([]any)
			deleted := positionsOf(list, "")
			document[name] = slices.DeleteFunc(current, func(value any) bool { return deleted.has(value, "") })
		case strings.HasPrefix(key, setElementOrder):
			order[name] = list
		}
	}
	for name, wanted := range order {
		list, known := t.Field(name)
		if !known {
			return nil, impossible("unable to find api field in struct %s for the json field %q", t.Name(), name)
		}
		if current, isList := document[name].([]any); isList {
			key := list.MergeKey()
			document[name] = inOrder(current, wanted, positionsOf(current, key), key)
		}
	}
	return document, nil
}

// mergeField merges one field of the patch.
func mergeField(document map[string]any, name string, value any, t *Type) (err error) {
	field, _ := t.Field(name) // an unknown field is merged, too, and refused or pruned later
	switch v := value.(type) {
	case nil:
		delete(document, name)
		return nil
	case map[string]any:
		current, isObject := document[name].(map[string]any)
		switch {
		case isObject && !field.PatchStrategy().Replace:
			document[name], err = mergeMaps(current, v, field)
			return err
		case has(v, directive):
			delete(document, name)
			return nil
		}
	case []any:
		if current, isList := document[name].([]any); isList && field.PatchStrategy().Merge {
			document[name], err = mergeLists(current, v, field)
			return err
		}
	}
	document[name] = plain(value)
	return nil
}

// mergeLists merges the elements of a list by the merge key of its type, or as a set if they are
// scalars.
func mergeLists(current, patch []any, t *Type) ([]any, error) {
	key := t.MergeKey()
	if slices.ContainsFunc(patch, func(element any) bool { return object(element)[directive] == "replace" }) {
		return plain(patch).([]any), nil
	}
	deleted := positions{}
	for _, element := range patch {
		if object(element)[directive] == "delete" {
			deleted[identity(element, key)] = 0
		}
	}
	current = slices.DeleteFunc(current, func(element any) bool { return deleted.has(element, key) })
	was := positionsOf(current, key)
	at := maps.Clone(was)
	for _, element := range patch {
		fields := object(element)
		switch what, directed := fields[directive]; {
		case key != "" && !has(fields, key):
			return nil, impossible("map: %v does not contain declared merge key: %s", element, key)
		case what == "delete":
			continue
		case directed:
			return nil, impossible("unknown patch type: %s in map: %v", what, element)
		}
		i, there := at[identity(element, key)]
		if !there {
			at[identity(element, key)] = len(current)
			current = append(current, plain(element))
		} else if old, isObject := current[i].(map[string]any); isObject {
			merged, err := mergeMaps(old, fields, t.Items())
			if err != nil {
				return nil, err
			}
			current[i] = merged
		}
	}
	return inOrder(current, patch, was, key), nil
}

// positions maps the identity of an element, its merge key or its value, to its first position in a
// list. Because clients choose the length of lists, nothing here may take quadratic time.
type positions map[any]int

func positionsOf(list []any, key string) positions {
	at := make(positions, len(list))
	for i, value := range list {
		if !at.has(value, key) {
			at[identity(value, key)] = i
		}
	}
	return at
}

func (p positions) has(value any, key string) bool {
	_, found := p[identity(value, key)]
	return found
}

func identity(value any, key string) any {
	if element, ok := value.(map[string]any); ok && key != "" {
		value = element[key]
	}
	switch value.(type) {
	case map[string]any, []any: // not comparable in Go
		return [1]string{encoded(value)} // never equal to a text
	}
	return value
}

// inOrder sorts a list: the elements of the patch in its order; the others keep their position
// relative to them. was has the positions before the patch.
func inOrder(list, patch []any, was positions, key string) (out []any) {
	wanted := positionsOf(patch, key)
	var named, others []any
	for _, value := range list {
		if wanted.has(value, key) {
			named = append(named, value)
		} else {
			others = append(others, value)
		}
	}
	slices.SortStableFunc(named, func(a, b any) int { return wanted[identity(a, key)] - wanted[identity(b, key)] })
	for len(named) > 0 && len(others) > 0 {
		ours, known := was[identity(named[0], key)]
		if known && was[identity(others[0], key)] < ours {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return slices.Concat(out, others, named)
}

// plain removes from a new value what has no meaning there: nulls and $patch directives.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil || has(object(inner), directive) {
				delete(v, key)
				continue
			}
			v[key] = plain(inner)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, inner := range v {
			if !has(object(inner), directive) {
				kept = append(kept, plain(inner))
			}
		}
		return kept
	}
	return value
}

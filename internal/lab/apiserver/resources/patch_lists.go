package resources

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// mergeLists merges the elements of a list by the merge key of its type, or as a set if they are
// scalars.
func mergeLists(current, patch []any, t *Type, deleting bool) ([]any, error) {
	if len(current) == 0 && len(patch) == 0 {
		return current, nil
	}
	sort, err := sortOf(current, patch)
	if err != nil {
		return nil, err
	}
	if sort != "object" {
		if deleting {
			return without(current, positionsOf(patch, ""), ""), nil
		}
		return inOrder(unique(append(slices.Clone(current), patch...)), patch, current, ""), nil
	}
	key := t.MergeKey()
	if key == "" {
		return nil, impossible("cannot merge lists without merge key for %s", t.Items().Name())
	}
	rest, kept, replaced, err := listDirectives(current, patch, key)
	if err != nil {
		return nil, err
	}
	if replaced {
		kept, rest = rest, nil
	}
	merged, err := mergeElements(kept, rest, t.Items(), key)
	if err != nil {
		return nil, err
	}
	return inOrder(merged, rest, kept, key), nil
}

// sortOf returns the JSON type of all elements.
func sortOf(lists ...[]any) (string, error) {
	sort := ""
	for _, list := range lists {
		for _, element := range list {
			this := JSONType(element)
			if element == nil {
				this = "nil"
			}
			if sort != "" && this != sort {
				return "", impossible("list element types are not identical: %v", lists)
			}
			sort = this
		}
	}
	if sort == "array" {
		return "", impossible("lists of lists are not supported")
	}
	return sort, nil
}

// listDirectives applies the elements of a patch that are directives. It returns the other
// elements, what is left of the list, and whether the former replace the latter.
func listDirectives(current, patch []any, key string) (rest, kept []any, replaced bool, err error) {
	deleted := positions{}
	for _, entry := range patch {
		element := entry.(map[string]any)
		what, ok := element[directive]
		if !ok {
			rest = append(rest, element)
			continue
		}
		switch what {
		case "delete":
			id, ok := element[key]
			if !ok {
				return nil, nil, false, keyless(element, key)
			}
			deleted[asKey(id)] = 0
		case "replace":
			replaced = true
		case "merge":
			return nil, nil, false, impossible("merging lists cannot yet be specified in the patch")
		default:
			return nil, nil, false, impossible("unknown patch type: %s in map: %v", what, element)
		}
	}
	return rest, without(current, deleted, key), replaced, nil
}

func keyless(element map[string]any, key string) error {
	return impossible("map: %v does not contain declared merge key: %s", element, key)
}

// mergeElements merges each element of the patch into the one with the same key, or appends it.
func mergeElements(list, patch []any, t *Type, key string) ([]any, error) {
	at := positionsOf(list, key)
	for _, entry := range patch {
		element := entry.(map[string]any)
		if !holds(element, key) {
			return nil, keyless(element, key)
		}
		i, there := at[identity(element, key)]
		if !there {
			at[identity(element, key)] = len(list)
			list = append(list, element)
			continue
		}
		merged, err := mergeMaps(list[i].(map[string]any), element, t)
		if err != nil {
			return nil, err
		}
		list[i] = merged
	}
	return list, nil
}

func holds(element map[string]any, key string) bool {
	_, ok := element[key]
	return ok
}

func unique(list []any) []any {
	seen := positions{}
	return slices.DeleteFunc(list, func(value any) bool {
		id := identity(value, "")
		_, again := seen[id]
		seen[id] = 0
		return again
	})
}

// without returns a copy of list without the others.
func without(list []any, others positions, key string) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		_, found := others[identity(v, key)]
		return found
	})
}

// positions maps the identity of an element to its first position in a list. Because clients choose
// the length of lists, nothing here may take quadratic time.
type positions map[any]int

func positionsOf(list []any, key string) positions {
	at := make(positions, len(list))
	for i, value := range list {
		id := identity(value, key)
		if _, ok := at[id]; !ok {
			at[id] = i
		}
	}
	return at
}

// of returns the position of a value, or -1.
func (p positions) of(value any, key string) int {
	if i, ok := p[identity(value, key)]; ok {
		return i
	}
	return -1
}

// identity returns what equal elements have in common: the merge key, or the value.
func identity(value any, key string) any {
	if element, ok := value.(map[string]any); ok && key != "" {
		return asKey(element[key])
	}
	return asKey(value)
}

// composite is the JSON of a value that is not comparable in Go.
type composite string

func asKey(value any) any {
	switch value.(type) {
	case map[string]any, []any:
		data, _ := json.Marshal(value)
		return composite(data)
	}
	return value
}

// mergeOrdered merges the lists for which the patch has $setElementOrder, and removes them from the
// patch.
func mergeOrdered(document, patch map[string]any, t *Type) error {
	for key, value := range patch {
		name, ok := strings.CutPrefix(key, setElementOrder)
		if !ok {
			continue
		}
		delete(patch, key)
		order, ok := value.([]any)
		if !ok {
			return impossible("expected a []interface {}, but received a %T", value)
		}
		if err := mergeOrderedField(document, patch, t, name, order); err != nil {
			return err
		}
	}
	return nil
}

func mergeOrderedField(document, patch map[string]any, t *Type, name string, order []any) error {
	list, known := t.Field(name)
	current, there, err := listOf(document, name)
	if err != nil {
		return err
	}
	changes, given, err := listOf(patch, name)
	if err != nil {
		return err
	}
	if !known {
		return unknownField(t, name)
	}
	merged := current
	switch {
	case !there && !given:
		return nil
	case !there:
		merged = plain(changes).([]any)
	case given:
		value, err := mergeValues(current, changes, list, false)
		if err != nil {
			return err
		}
		merged = value.([]any)
	}
	document[name] = inOrder(merged, order, current, list.MergeKey())
	delete(patch, name)
	return nil
}

func listOf(fields map[string]any, name string) (list []any, there bool, err error) {
	value, there := fields[name]
	list, ok := value.([]any)
	if there && !ok {
		return nil, true, impossible("expected a []interface {}, but received a %T", value)
	}
	return list, there, nil
}

// inOrder sorts a list: the elements of the patch in its order; the others keep their position
// relative to them.
func inOrder(list, order, current []any, key string) []any {
	wanted, was := positionsOf(order, key), positionsOf(current, key)
	var named, others []any
	for _, value := range list {
		if wanted.of(value, key) >= 0 {
			named = append(named, value)
		} else {
			others = append(others, value)
		}
	}
	sortBy(named, wanted, key)
	sortBy(others, was, key)
	out := make([]any, 0, len(list))
	for len(named) > 0 && len(others) > 0 {
		theirs, ours := was.of(others[0], key), was.of(named[0], key)
		if theirs >= 0 && ours >= 0 && theirs < ours {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return append(append(out, others...), named...)
}

// sortBy sorts a list by the positions in another; absent elements come last.
func sortBy(list []any, order positions, key string) {
	place := func(value any) int {
		if at := order.of(value, key); at >= 0 {
			return at
		}
		return math.MaxInt32
	}
	slices.SortStableFunc(list, func(a, b any) int { return place(a) - place(b) })
}

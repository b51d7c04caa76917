package patch

import (
	"math"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/schema"
)

// mergeOrdered merges the lists for which the patch has $setElementOrder, and removes them from the
// patch.
func mergeOrdered(document, patch map[string]any, t *schema.Type) error {
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

func mergeOrderedField(document, patch map[string]any, t *schema.Type, name string, order []any) error {
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
	key := list.MergeKey()
	if err := follows(changes, order, key); err != nil {
		return err
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
	if sort, err := sortOf(current, changes); err != nil {
		return err
	} else if sort == "" {
		return impossible("no elements in any of the given slices")
	}
	if err := allHave(slices.Concat(current, order, merged), key); err != nil {
		return err
	}
	document[name] = inOrder(merged, order, current, key)
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

// follows checks that the elements of a list, except directives, are in the given order. As in
// kube-apiserver a directive after the last element of the order is an error, unless it deletes.
func follows(list, order []any, key string) error {
	if len(list) == 0 || len(order) == 0 {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(v any) bool { return isDirected(v) && v.(map[string]any)[directive] == "delete" })
	for at := 0; at < len(order) && len(rest) > 0; {
		if isDirected(rest[0]) {
			rest = rest[1:]
			continue
		}
		if err := allHave([]any{order[at], rest[0]}, key); key != "" && err != nil {
			return err
		}
		if identity(rest[0], key) == identity(order[at], key) {
			rest = rest[1:]
		}
		at++
	}
	if len(rest) > 0 {
		return impossible("The order in patch list:\n%v\n doesn't match $setElementOrder list:\n%v\n", list, order)
	}
	return nil
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

package resources

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is the part of kubectl's JSONPath that columns use: a chain of steps from the root,
// .field, ['field'], [0], [-1], [*], [?(@.type=="Ready")].
type jsonPath []pathStep

// pathStep returns what it selects from a value.
type pathStep func(value any) []any

// find returns the values at the path.
func (p jsonPath) find(root any) []any {
	values := []any{root}
	for _, step := range p {
		var next []any
		for _, value := range values {
			next = append(next, step(value)...)
		}
		values = next
	}
	return values
}

// member selects a field of an object.
func member(name string) pathStep {
	return func(value any) []any {
		if found, ok := object(value)[name]; ok {
			return []any{found}
		}
		return nil
	}
}

// members selects all members of a list or, in the order of their names, of an object.
func members(value any) []any {
	all, _ := value.([]any)
	for _, name := range sortedKeys(object(value)) {
		all = append(all, object(value)[name])
	}
	return all
}

// element selects an element of a list, from the end if index is negative.
func element(index int) pathStep {
	return func(value any) []any {
		list, _ := value.([]any)
		at := index
		if at < 0 {
			at += len(list)
		}
		if at < 0 || at >= len(list) {
			return nil
		}
		return list[at : at+1]
	}
}

// elements selects the elements of a list in which the first value at a path satisfies a condition.
func elements(path jsonPath, holds func(found any) bool) pathStep {
	return func(value any) []any {
		var selected []any
		list, _ := value.([]any)
		for _, one := range list {
			if found := path.find(one); len(found) > 0 && holds(found[0]) {
				selected = append(selected, one)
			}
		}
		return selected
	}
}

func parseJSONPath(text string) (path jsonPath, err error) {
	for text != "" {
		var step pathStep
		switch text[0] {
		case '.':
			step, text, err = parseField(text[1:])
		case '[':
			step, text, err = parseBracket(text[1:])
		default:
			err = fmt.Errorf("unexpected %q", text[:1])
		}
		if err != nil {
			return nil, err
		}
		if step != nil {
			path = append(path, step)
		}
	}
	return path, nil
}

// parseField parses a name up to the next step. A backslash escapes a dot. An empty name stands for
// the value itself, which needs no step.
func parseField(text string) (step pathStep, rest string, err error) {
	var name strings.Builder
	i := 0
	for ; i < len(text) && text[i] != '.' && text[i] != '['; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		name.WriteByte(text[i])
	}
	switch {
	case strings.ContainsAny(name.String(), "{}()'\" "):
		err = fmt.Errorf("unexpected character in %q", name.String())
	case name.String() == "*":
		step = members
	case name.Len() > 0:
		step = member(name.String())
	}
	return step, text[i:], err
}

var errJSONPath = errors.New("unexpected end")

func parseBracket(text string) (step pathStep, rest string, err error) {
	if inner, ok := strings.CutPrefix(text, "?("); ok {
		condition, rest, found := strings.Cut(inner, ")]")
		if !found {
			return nil, "", errJSONPath
		}
		step, err = parseCondition(condition)
		return step, rest, err
	}
	inner, rest, found := strings.Cut(text, "]")
	if !found {
		return nil, "", errJSONPath
	}
	if inner == "*" {
		return members, rest, nil
	}
	if name, ok := quotedText(inner); ok {
		return member(name), rest, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil {
		return nil, "", fmt.Errorf("%q is neither a number nor a name", inner)
	}
	return element(index), rest, nil
}

func quotedText(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

// parseCondition parses a path that must exist, or its comparison with a text or another scalar.
func parseCondition(condition string) (pathStep, error) {
	left, right, compares := strings.Cut(condition, "==")
	rest, ok := strings.CutPrefix(strings.TrimSpace(left), "@")
	if !ok {
		return nil, fmt.Errorf("condition %q does not start with @", left)
	}
	path, err := parseJSONPath(rest)
	want := strings.TrimSpace(right)
	if quoted, ok := quotedText(want); ok {
		want = quoted
	}
	return elements(path, func(found any) bool { return !compares || fmt.Sprint(found) == want }), err
}

package resources

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is the part of kubectl's JSONPath that columns of custom resources use: a chain of steps
// from the root, .field, ['field'], [0], [-1], [*], [?(@.type=="Ready")].
type jsonPath []pathStep

// pathStep selects members of a value.
type pathStep struct {
	field  string    // of an object
	index  *int      // in a list, from the end if negative
	all    bool      // all members
	filter *equality // of the members of a list
}

// equality compares a field of a member with a value.
type equality struct {
	path  jsonPath
	not   bool
	any   bool // the field must exist
	value any
}

var errJSONPath = errors.New("unexpected end")

func parseJSONPath(text string) (jsonPath, error) {
	var path jsonPath
	for text != "" {
		var step pathStep
		var err error
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
		if step != (pathStep{}) {
			path = append(path, step)
		}
	}
	return path, nil
}

// parseField parses a name up to the next step. A backslash escapes a dot. An empty name stands for
// the value itself.
func parseField(text string) (pathStep, string, error) {
	var name strings.Builder
	i := 0
	for ; i < len(text) && text[i] != '.' && text[i] != '['; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		name.WriteByte(text[i])
	}
	if strings.ContainsAny(name.String(), "{}()'\" ") {
		return pathStep{}, "", fmt.Errorf("unexpected character in %q", name.String())
	}
	if name.String() == "*" {
		return pathStep{all: true}, text[i:], nil
	}
	return pathStep{field: name.String()}, text[i:], nil
}

func parseBracket(text string) (pathStep, string, error) {
	if inner, ok := strings.CutPrefix(text, "?("); ok {
		condition, rest, found := strings.Cut(inner, ")]")
		if !found {
			return pathStep{}, "", errJSONPath
		}
		filter, err := parseEquality(condition)
		return pathStep{filter: filter}, rest, err
	}
	inner, rest, found := strings.Cut(text, "]")
	if !found {
		return pathStep{}, "", errJSONPath
	}
	if inner == "*" {
		return pathStep{all: true}, rest, nil
	}
	if name, ok := quotedText(inner); ok {
		return pathStep{field: name}, rest, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil {
		return pathStep{}, "", fmt.Errorf("%q is neither a number nor a name", inner)
	}
	return pathStep{index: &index}, rest, nil
}

func quotedText(text string) (string, bool) {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1], true
	}
	return "", false
}

func parseEquality(condition string) (*equality, error) {
	for _, operator := range []string{"==", "!="} {
		left, right, found := strings.Cut(condition, operator)
		if !found {
			continue
		}
		path, err := parseFilterPath(left)
		if err != nil {
			return nil, err
		}
		value, err := parseLiteral(strings.TrimSpace(right))
		return &equality{path: path, not: operator == "!=", value: value}, err
	}
	path, err := parseFilterPath(condition)
	return &equality{path: path, any: true}, err
}

func parseFilterPath(text string) (jsonPath, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "@")
	if !ok {
		return nil, fmt.Errorf("condition %q does not start with @", text)
	}
	return parseJSONPath(rest)
}

func parseLiteral(text string) (any, error) {
	if s, ok := quotedText(text); ok {
		return s, nil
	}
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err
}

// find returns the values at the path.
func (p jsonPath) find(root any) []any {
	values := []any{root}
	for _, step := range p {
		var next []any
		for _, value := range values {
			next = step.from(next, value)
		}
		values = next
	}
	return values
}

// from appends what the step selects from one value.
func (s pathStep) from(found []any, value any) []any {
	switch v := value.(type) {
	case map[string]any:
		if s.all {
			for _, key := range sortedKeys(v) {
				found = append(found, v[key])
			}
		} else if member, ok := v[s.field]; ok && s.index == nil && s.filter == nil {
			found = append(found, member)
		}
	case []any:
		found = s.fromList(found, v)
	}
	return found
}

func (s pathStep) fromList(found, list []any) []any {
	switch {
	case s.all:
		return append(found, list...)
	case s.index != nil:
		i := *s.index
		if i < 0 {
			i += len(list)
		}
		if i >= 0 && i < len(list) {
			return append(found, list[i])
		}
	case s.filter != nil:
		for _, member := range list {
			if s.filter.holds(member) {
				found = append(found, member)
			}
		}
	}
	return found
}

func (e *equality) holds(value any) bool {
	found := e.path.find(value)
	if len(found) == 0 {
		return false
	}
	return e.any || same(found[0], e.value) != e.not
}

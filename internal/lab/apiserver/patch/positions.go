package patch

import "encoding/json"

// positions says where in a list an element is first found, by its identity. Lists are as long as a client likes: nothing
// here may take the square of their length.
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

// of returns the position of a value, -1 if it is not in the list.
func (p positions) of(value any, key string) int {
	if i, ok := p[identity(value, key)]; ok {
		return i
	}
	return -1
}

// identity is what two elements of a list have in common if they are the same: the merge key, or the value.
func identity(value any, key string) any {
	if element, ok := value.(map[string]any); ok && key != "" {
		return asKey(element[key])
	}
	return asKey(value)
}

// composite is the JSON of a value that Go cannot compare.
type composite string

func asKey(value any) any {
	switch value.(type) {
	case map[string]any, []any:
		data, _ := json.Marshal(value)
		return composite(data)
	}
	return value
}

package resources

import (
	"encoding/json"
)

// Lists returns the duplicate elements of sets and the duplicate keys of lists of type map.
func (s *Schema) Lists(path string, value any) []FieldError {
	if s == nil {
		return nil
	}
	var wrong []FieldError
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if _, named := s.Properties[key]; named {
				wrong = append(wrong, s.Properties[key].Lists(join(path, key), v[key])...)
			} else {
				wrong = append(wrong, s.AdditionalProperties.Lists(keyed(path, key), v[key])...)
			}
		}
	case []any:
		switch s.ListType {
		case "set":
			wrong = duplicates(path, v, func(item any) any { return item })
		case "map":
			wrong = duplicates(path, v, func(item any) any { return s.key(item) })
		}
		for i, item := range v {
			wrong = append(wrong, s.Items.Lists(indexed(path, i), item)...)
		}
	}
	return wrong
}

// key returns the key fields of an element.
func (s *Schema) key(item any) map[string]any {
	object, _ := item.(map[string]any)
	key := map[string]any{}
	for _, name := range s.ListMapKeys {
		if value, ok := object[name]; ok {
			key[name] = value
		}
	}
	return key
}

func encoded(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}

// duplicates reports each key that occurs more than once, at its second occurrence.
func duplicates(path string, list []any, key func(any) any) []FieldError {
	var wrong []FieldError
	seen := map[string]int{}
	for i, item := range list {
		this := key(item)
		if seen[encoded(this)]++; seen[encoded(this)] == 2 {
			wrong = append(wrong, FieldError{Type: FieldDuplicate, Field: indexed(path, i), Value: this})
		}
	}
	return wrong
}

// FillIn sets the defaults of absent fields and of nulls that are not allowed, and drops the other
// nulls that are not allowed. It changes value in place.
func (s *Schema) FillIn(value any) {
	if s == nil {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if _, there := v[name]; !there && property != nil && property.Default.value != nil {
				v[name] = clone(property.Default.value)
			}
		}
		for name, inner := range v {
			field := s.at(name)
			if inner == nil && field != nil && !field.Nullable {
				inner = clone(field.Default.value)
				v[name] = inner
				if inner == nil {
					delete(v, name)
				}
			}
			field.FillIn(inner)
		}
	case []any:
		for i, item := range v {
			if item == nil && s.Items != nil && !s.Items.Nullable {
				v[i] = clone(s.Items.Default.value)
			}
			s.Items.FillIn(v[i])
		}
	}
}

package structural

import (
	"orrery/restclient/api"
)

// FillIn sets the defaults of absent fields and of nulls that are not allowed, and drops the other
// nulls that are not allowed. It changes value in place.
func (s *Schema) FillIn(value any) {
	s.fillIn(value)
	s.dropNulls(value)
}

func (s *Schema) fillIn(value any) {
	if s == nil {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if found, there := v[name]; property.Default != nil && (!there || found == nil && !property.Nullable) {
				v[name] = clone(property.Default)
			}
		}
		for name, inner := range v {
			if _, named := s.Properties[name]; !named && inner == nil && s.AdditionalProperties != nil && !s.AdditionalProperties.Nullable {
				v[name] = clone(s.AdditionalProperties.Default)
			}
			s.at(name).fillIn(v[name])
		}
	case []any:
		for i, item := range v {
			if item == nil && s.Items != nil && !s.Items.Nullable {
				v[i] = clone(s.Items.Default)
			}
			s.Items.fillIn(v[i])
		}
	}
}

// dropNulls runs after fillIn, which leaves only nulls that have no default.
func (s *Schema) dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if field := s.at(name); inner == nil && field != nil && !field.Nullable {
				delete(v, name)
			} else {
				field.dropNulls(inner)
			}
		}
	case []any:
		var items *Schema
		if s != nil {
			items = s.Items
		}
		for _, item := range v {
			items.dropNulls(item)
		}
	}
}

func clone(value any) any {
	return (&api.Unstructured{Object: map[string]any{"": value}}).DeepCopy().Object[""]
}

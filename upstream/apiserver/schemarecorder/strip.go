package main

// dropped are the members of a schema that are not recorded: texts, and values that our server's
// code sets.
var dropped = map[string]bool{"description": true, "default": true, "title": true, "externalDocs": true, "example": true}

// strip removes what is not needed from a schema. Property names are not members: a field called
// "description" stays.
func strip(value any) any {
	schema, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(schema))
	for key, inner := range schema {
		switch {
		case dropped[key]:
		case key == "properties":
			out[key] = stripEach(inner)
		case key == "items", key == "additionalProperties", key == "not":
			out[key] = strip(inner)
		case key == "allOf", key == "oneOf", key == "anyOf":
			out[key] = stripEach(inner)
		default:
			out[key] = inner
		}
	}
	return out
}

func stripEach(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = strip(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = strip(inner)
		}
	}
	return value
}

package schema

import (
	"strings"
)

// v2 renders a path for OpenAPI 2.
func (e *endpoint) v2() map[string]any {
	path := map[string]any{"parameters": v2Parameters(e.parameters)}
	for _, o := range e.operations {
		path[o.method] = o.v2()
	}
	return path
}

func (o *operation) v2() map[string]any {
	out := map[string]any{
		"operationId":         o.id,
		"produces":            []any{"application/json", "application/yaml"},
		"responses":           map[string]any{"200": map[string]any{"description": "OK", "schema": v2Reference(o.answer)}},
		"x-kubernetes-action": o.action,
		gvkExtension:          gvkMap(o.gvk),
	}
	parameters := v2Parameters(o.parameters)
	if o.body != "" {
		parameters = append(parameters, map[string]any{"name": "body", "in": "body", "required": o.body != deleteOptionsName, "schema": v2Reference(o.body)})
		out["consumes"] = o.consumes
	}
	if parameters != nil {
		out["parameters"] = parameters
	}
	return out
}

func v2Parameters(parameters []parameter) []any {
	var out []any
	for _, p := range parameters {
		described := map[string]any{"name": p.name, "in": p.in, "type": p.kind, "uniqueItems": true}
		if p.in == "path" {
			described["required"] = true
		}
		out = append(out, described)
	}
	return out
}

func v2Reference(name string) map[string]any { return map[string]any{"$ref": "#/definitions/" + name} }

// v2Schema converts a schema to OpenAPI 2, which has no alternatives: an untyped oneOf becomes a
// string.
func v2Schema(schema map[string]any) map[string]any {
	if name := reference(schema); name != "" {
		out := v2Reference(name)
		for key, value := range schema {
			if key == "description" || strings.HasPrefix(key, "x-") {
				out[key] = value
			}
		}
		return out
	}
	out := make(map[string]any, len(schema))
	for key, value := range schema {
		switch key {
		case "properties":
			properties := map[string]any{}
			fields, _ := value.(map[string]any)
			for name, property := range fields {
				if inner, ok := property.(map[string]any); ok {
					properties[name] = v2Schema(inner)
				}
			}
			out[key] = properties
		case "items", "additionalProperties":
			if inner, ok := value.(map[string]any); ok {
				out[key] = v2Schema(inner)
			}
		case "oneOf", "anyOf", "allOf", "not", "nullable":
			if _, typed := schema["type"]; key == "oneOf" && !typed {
				out["type"] = "string"
			}
		default:
			out[key] = value
		}
	}
	return out
}

// v3 renders a path for OpenAPI 3.
func (e *endpoint) v3() map[string]any {
	path := map[string]any{"parameters": v3Parameters(e.parameters)}
	for _, o := range e.operations {
		path[o.method] = o.v3()
	}
	return path
}

func (o *operation) v3() map[string]any {
	content := map[string]any{"application/json": map[string]any{"schema": referTo(o.answer)}}
	out := map[string]any{
		"operationId":         o.id,
		"responses":           map[string]any{"200": map[string]any{"description": "OK", "content": content}},
		"x-kubernetes-action": o.action,
		gvkExtension:          gvkMap(o.gvk),
	}
	if o.parameters != nil {
		out["parameters"] = v3Parameters(o.parameters)
	}
	if o.body != "" {
		body := map[string]any{}
		for _, mediaType := range o.consumes {
			body[mediaType] = map[string]any{"schema": referTo(o.body)}
		}
		out["requestBody"] = map[string]any{"content": body, "required": o.body != deleteOptionsName}
	}
	return out
}

func v3Parameters(parameters []parameter) []any {
	var out []any
	for _, p := range parameters {
		described := map[string]any{"name": p.name, "in": p.in, "schema": map[string]any{"type": p.kind, "uniqueItems": true}}
		if p.in == "path" {
			described["required"] = true
		}
		out = append(out, described)
	}
	return out
}

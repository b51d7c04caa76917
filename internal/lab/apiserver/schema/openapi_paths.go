package schema

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

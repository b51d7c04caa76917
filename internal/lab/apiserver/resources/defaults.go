package resources

import (
	_ "embed"
	"encoding/json"
	"sync"

	"go.yaml.in/yaml/v3"

	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

//go:embed defaults.yaml
var defaultsText []byte

// defaults maps type names to the default values of their fields.
var defaults = sync.OnceValue(func() tree {
	var types map[string]any
	err := yaml.Unmarshal(defaultsText, &types)
	data, _ := json.Marshal(types)
	read := &api.Unstructured{}
	if err != nil || json.Unmarshal(data, read) != nil {
		panic("resources: defaults.yaml cannot be read")
	}
	return read.Object
})

// fillIn sets the defaults of an object and of all objects in it, and the zero values of fields
// that are always encoded.
func fillIn(t *schema.Type, o tree) {
	if t.Struct() {
		fillFrom(o, child(defaults(), t.Name()))
		fillAlways(t, o)
	}
	for name, value := range o {
		field, known := t.Field(name)
		if !known {
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			fillIn(field, v)
		case []any:
			for _, item := range v {
				if inner, ok := item.(map[string]any); ok {
					fillIn(field.Items(), inner)
				}
			}
		}
	}
}

// fillFrom sets the keys that are absent or "", which is the same for most fields.
func fillFrom(o, values tree) {
	for key, value := range values {
		if inner, ok := value.(map[string]any); ok {
			fillFrom(ensure(o, key), inner)
		} else if o[key] == nil || o[key] == "" {
			o[key] = cloneValue(value)
		}
	}
}

// fillAlways sets the zero values of the fields that Kubernetes encodes even if empty.
func fillAlways(t *schema.Type, o tree) {
	for _, name := range t.Always() {
		if value, there := o[name]; there {
			if list, ok := value.([]any); ok && len(list) == 0 {
				o[name] = nil // objects are stored as protobuf, which has no empty lists
			}
			continue
		}
		o[name] = nil
		switch field, _ := t.Field(name); field.Kind() {
		case schema.Integer:
			o[name] = int64(0)
		case schema.Boolean:
			o[name] = false
		case schema.String:
			o[name] = ""
		case schema.Object:
			// Selectors are pointers and encoded as null.
			if field.Struct() && field.Name() != "LabelSelector" {
				o[name] = tree{}
			}
		}
	}
}

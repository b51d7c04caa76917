package resources

import (
	"encoding/json"
	"sync"

	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// Defaults of workloads that depend on other fields.

// fillTemplate sets the defaults of a pod template.
func fillTemplate(o tree) {
	template := child(o, "template") // of a PodTemplate
	if spec := child(o, "spec"); spec != nil {
		template = child(spec, "template")
	}
	if spec := child(template, "spec"); spec != nil {
		fillPodSpec(spec)
	}
}

func fillDaemonSet(o tree) {
	fillTemplate(o)
	fillRolling(o, "updateStrategy", tree{"maxSurge": int64(0), "maxUnavailable": int64(1)})
}

func fillStatefulSet(o tree) {
	fillTemplate(o)
	fillRolling(o, "updateStrategy", tree{"partition": int64(0)})
}

func fillDeployment(o tree) {
	fillTemplate(o)
	fillRolling(o, "strategy", tree{"maxUnavailable": "25%", "maxSurge": "25%"})
}

// fillRolling sets the defaults of a rolling update.
func fillRolling(o tree, key string, details tree) {
	if strategy := child(child(o, "spec"), key); text(strategy, "type") == "RollingUpdate" {
		fillMap(strategy, "rollingUpdate", details)
	}
}

func fillCronJob(o tree) { fillTemplate(child(child(o, "spec"), "jobTemplate")) }

// fillMap sets the absent keys of a map.
func fillMap(t tree, key string, from tree) {
	if len(from) == 0 {
		return
	}
	into := ensure(t, key)
	for name, value := range from {
		fill(into, name, value)
	}
}

// defaults maps type names to the default values of their fields.
var defaults = sync.OnceValue(func() tree {
	data, err := json.Marshal(decoded[tree]("defaults.yaml"))
	types := &api.Unstructured{}
	if err != nil || json.Unmarshal(data, types) != nil {
		panic("resources: defaults.yaml is not JSON")
	}
	return types.Object
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

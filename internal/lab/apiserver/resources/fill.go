package resources

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// defaults maps type names to the default values of their fields.
var defaults = sync.OnceValue(func() tree {
	data, err := json.Marshal(decoded[tree]("defaults.yaml"))
	types := &api.Unstructured{}
	if err != nil || json.Unmarshal(data, types) != nil {
		panic("resources: defaults.yaml is not JSON")
	}
	return types.Object
})

// computed set the defaults that depend on other fields, by the type of the object that has them.
var computed = map[string]func(o tree){
	"Namespace": labelNamespace,
	"Pod":       fillPod,
	"PodSpec":   fillPodSpec,
	"PodStatus": func(status tree) {
		if address := text(status, "podIP"); address != "" {
			fill(status, "podIPs", []any{tree{"ip": address}})
		}
	},
	"ServiceSpec": fillServiceSpec,
	"ServicePort": func(port tree) {
		if target := port["targetPort"]; target == nil || target == int64(0) || target == "" {
			port["targetPort"] = integer(port, "port")
		}
	},

	"DeploymentStrategy":        rolling(tree{"maxUnavailable": "25%", "maxSurge": "25%"}),
	"DaemonSetUpdateStrategy":   rolling(tree{"maxUnavailable": int64(1), "maxSurge": int64(0)}),
	"StatefulSetUpdateStrategy": rolling(tree{"partition": int64(0)}),

	"Secret": fillSecret,
	"Subject": func(subject tree) { // of a binding; those of FlowSchemas have no name
		if kind := text(subject, "kind"); has(subject, "name") && (kind == "User" || kind == "Group") {
			fillText(subject, "apiGroup", "rbac.authorization.k8s.io")
		}
	},
	"CustomResourceDefinitionNames": func(names tree) {
		if kind := text(names, "kind"); kind != "" {
			fillText(names, "singular", strings.ToLower(kind))
			fillText(names, "listKind", kind+"List")
		}
	},
}

// rolling sets the defaults of a rolling update.
func rolling(details tree) func(tree) {
	return func(strategy tree) {
		if text(strategy, "type") == "RollingUpdate" {
			fillMap(strategy, "rollingUpdate", details)
		}
	}
}

// fillSecret moves stringData, which is write-only, to data.
func fillSecret(o tree) {
	plain := child(o, "stringData")
	delete(o, "stringData")
	if len(plain) == 0 {
		return
	}
	data := ensure(o, "data")
	for key := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text(plain, key)))
	}
}

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

// fillIn sets the defaults of an object and of all objects in it, and the zero values of fields
// that are always encoded.
func fillIn(t *Type, o tree) {
	if t.Struct() {
		fillFrom(o, child(defaults(), t.Name()))
		if more := computed[t.Name()]; more != nil {
			more(o)
		}
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
			o[key] = clone(value)
		}
	}
}

// fillAlways sets the zero values of the fields that Kubernetes encodes even if empty.
func fillAlways(t *Type, o tree) {
	for _, name := range t.Always() {
		if value, there := o[name]; there {
			if list, ok := value.([]any); ok && len(list) == 0 {
				o[name] = nil // objects are stored as protobuf, which has no empty lists
			}
			continue
		}
		o[name] = nil
		switch field, _ := t.Field(name); field.Kind() {
		case Integer:
			o[name] = int64(0)
		case Boolean:
			o[name] = false
		case String:
			o[name] = ""
		case Object:
			// Selectors are pointers and encoded as null.
			if field.Struct() && field.Name() != "LabelSelector" {
				o[name] = tree{}
			}
		}
	}
}

package resources

import (
	"sync"

	"orrery/restclient/api"
)

// scalePaths are the fields that a Scale is made of. selector may be nil.
type scalePaths struct {
	replicas, status, selector []string
}

var replicaPaths = &scalePaths{
	replicas: []string{"spec", "replicas"},
	status:   []string{"status", "replicas"},
	selector: []string{"spec", "selector"},
}

// Scales returns the definition that describes the documents of all scale subresources.
var Scales = sync.OnceValue(func() *Definition {
	d := &Definition{
		Group: "autoscaling", Version: "v1", Versions: []string{"v1"},
		Plural: "scales", Singular: "scale", Kind: "Scale", ListKind: "ScaleList", Namespaced: true,
		Columns: []Column{nameColumn(), ageColumn()},
	}
	d.Type, _ = Builtin().Type(d.GVK())
	return d
})

// ScaleOf returns the autoscaling/v1 Scale of an object. The type must have the subresource.
func (d *Definition) ScaleOf(o *api.Unstructured) *api.Unstructured {
	metadata, from := tree{}, child(o.Object, "metadata")
	for _, key := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if has(from, key) {
			metadata[key] = from[key]
		}
	}
	spec := tree{}
	if replicas := o.NestedInt64(d.scale.replicas...); replicas != 0 {
		spec["replicas"] = replicas
	}
	status := tree{"replicas": o.NestedInt64(d.scale.status...)}
	if labels := d.scale.selectorText(o); labels != "" {
		status["selector"] = labels
	}
	return &api.Unstructured{Object: tree{
		"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status,
	}}
}

// selectorText returns the selector as a string. Custom resources store it so, built-in types as an
// object.
func (p *scalePaths) selectorText(o *api.Unstructured) string {
	if p.selector == nil {
		return ""
	}
	switch v := o.Nested(p.selector...).(type) {
	case string:
		return v
	case map[string]any:
		labels, err := ParseLabelSelector(v)
		if err != nil {
			return ""
		}
		return labels.String()
	}
	return ""
}

// SetScale sets the desired number of replicas from a Scale. It fails if something in the path is
// not an object.
func (d *Definition) SetScale(o, scale *api.Unstructured) error {
	return o.SetNested(scale.NestedInt64("spec", "replicas"), d.scale.replicas...)
}

package resources

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// anyValue generates arbitrary JSON values.
func anyValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64Range(-3, 70000), toAny),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "Always", "ClusterIP", "LoadBalancer", "None", "1Gi", "-5m", "%",
			"2026-01-01T00:00:00Z"}), toAny),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	keys := rapid.SampledFrom([]string{
		"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "kind", "type", "uid",
		"controller", "containers", "initContainers", "image", "ports", "port", "env", "volumeMounts", "volumes",
		"resources", "limits", "requests", "cpu", "storage", "template", "metadata", "spec", "status", "selector",
		"matchLabels", "matchExpressions", "key", "operator", "values", "conditions", "containerStatuses", "state",
		"lastState", "terminated", "waiting", "running", "versions", "names", "schema", "openAPIV3Schema", "webhooks",
		"rules", "verbs", "subjects", "roleRef", "clusterIPs", "strategy", "rollingUpdate", "maxSurge", "tolerations",
		"involvedObject", "data", "hard", "used", "podIPs", "loadBalancer", "ingress", "accessModes", "min", "max",
		"default", "additionalPrinterColumns", "jsonPath", "subresources", "scale", "storage",
	})
	inner := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) })
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(inner, 0, 3), toAny),
		rapid.Map(rapid.MapOfN(keys, inner, 0, 6), toAny),
	)...)
}

func toAny[T any](v T) any { return v }

func anyObject() *rapid.Generator[*api.Unstructured] {
	return rapid.Custom(func(t *rapid.T) *api.Unstructured {
		o := &api.Unstructured{Object: map[string]any{}}
		for _, key := range []string{"metadata", "spec", "status", "data", "webhooks", "rules", "subjects", "roleRef",
			"type", "involvedObject"} {
			if value := anyValue(5).Draw(t, key); value != nil {
				o.Object[key] = value
			}
		}
		return o
	})
}

// Hooks never panic, and defaulting is idempotent, even for documents that no schema has checked.
func TestQuickHooksTakeAnything(t *testing.T) {
	catalog := withGadgets(t)
	definitions := catalog.All()
	rapid.Check(t, func(t *rapid.T) {
		d := definitions[rapid.IntRange(0, len(definitions)-1).Draw(t, "type")]
		o, old := anyObject().Draw(t, "object"), anyObject().Draw(t, "old")
		hooks := d.Strategy
		if hooks.Default != nil {
			hooks.Default(o)
			once := o.DeepCopy()
			hooks.Default(o)
			assert.Equal(t, once, o, "%s: defaulting is not idempotent", d.Kind)
			hooks.Default(old)
		}
		before := old.DeepCopy()
		for _, prepare := range []func(o, old *api.Unstructured){hooks.PrepareUpdate, hooks.PrepareStatus,
			hooks.PrepareFinalize} {
			if prepare != nil {
				prepare(o.DeepCopy(), old)
			}
		}
		if hooks.PrepareCreate != nil {
			hooks.PrepareCreate(o)
		}
		if hooks.Validate != nil {
			hooks.Validate(o)
			hooks.ValidateUpdate(o, old)
		}
		if hooks.ValidateStatusUpdate != nil {
			hooks.ValidateStatusUpdate(o, old)
		}
		if hooks.GraceSeconds != nil {
			hooks.GraceSeconds(o, nil)
		}
		ObjectMetaValidation(d, o)
		MetaUpdateValidation(d, o, old)
		d.FieldsOf(o)
		assert.Equal(t, before, old, "%s: the old object was changed", d.Kind)
		for _, column := range d.Columns {
			switch cell := column.Cell(o, time.Now()).(type) {
			case nil, string, int64, float64, bool:
			default:
				t.Fatalf("%s: %s is a %T", d.Kind, column.Name, cell)
			}
		}
	})
}

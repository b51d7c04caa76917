package resources

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// anyValue is a value of a document of any shape.
func anyValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64Range(-3, 70000), toAny),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "Always", "ClusterIP", "LoadBalancer", "None", "1Gi", "-5m", "%", "2026-01-01T00:00:00Z"}), toAny),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	keys := rapid.SampledFrom([]string{
		"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "kind", "type", "uid", "controller",
		"containers", "initContainers", "image", "ports", "port", "env", "volumeMounts", "volumes", "resources", "limits",
		"requests", "cpu", "storage", "template", "metadata", "spec", "status", "selector", "matchLabels", "matchExpressions",
		"key", "operator", "values", "conditions", "containerStatuses", "state", "lastState", "terminated", "waiting", "running",
		"versions", "names", "schema", "openAPIV3Schema", "webhooks", "rules", "verbs", "subjects", "roleRef", "clusterIPs",
		"strategy", "rollingUpdate", "maxSurge", "tolerations", "involvedObject", "data", "hard", "used", "podIPs", "loadBalancer", "ingress",
		"accessModes", "min", "max", "default", "additionalPrinterColumns", "jsonPath", "subresources", "scale", "storage",
	})
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) }), 0, 3), toAny),
		rapid.Map(rapid.MapOfN(keys, rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) }), 0, 6), toAny),
	)...)
}

func toAny[T any](v T) any { return v }

func anyObject() *rapid.Generator[*api.Unstructured] {
	return rapid.Custom(func(t *rapid.T) *api.Unstructured {
		o := &api.Unstructured{Object: map[string]any{}}
		for _, key := range []string{"metadata", "spec", "status", "data", "webhooks", "rules", "subjects", "roleRef", "type", "involvedObject"} {
			if value := anyValue(5).Draw(t, key); value != nil {
				o.Object[key] = value
			}
		}
		return o
	})
}

// Whatever a document holds, no hook panics, and defaults that are there are not filled in a second time. Documents of
// built-in types have passed their schema before; these have not.
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
			assert.Equal(t, once, o, "%s: defaults of what has defaults", d.Kind)
			hooks.Default(old)
		}
		before := old.DeepCopy()
		for _, prepare := range []func(o, old *api.Unstructured){hooks.PrepareUpdate, hooks.PrepareStatus, hooks.PrepareFinalize} {
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
		MetaUpdateValidation(d, "", o, old)
		d.FieldsOf(o)
		assert.Equal(t, before, old, "%s: the old object is only read", d.Kind)
		for _, column := range d.Columns {
			switch cell := column.Cell(o, time.Now()).(type) {
			case nil, string, int64, float64, bool:
			default:
				t.Fatalf("%s: %s is a %T", d.Kind, column.Name, cell)
			}
		}
	})
}

// A quantity in its canonical form is the same amount, rounded up to the smallest unit, and stays as it is.
func TestQuickQuantities(t *testing.T) {
	units := append([]string{"e3", "E-2", "e0"}, append(binarySuffixes, decimalSuffixes...)...)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,9}(\.[0-9]{1,6})?`).Draw(t, "number") + rapid.SampledFrom(units).Draw(t, "unit")
		q, ok := parseQuantity(text)
		require.True(t, ok, text)
		again, ok := parseQuantity(q.String())
		require.True(t, ok, q.String())
		assert.Equal(t, q.String(), again.String())
		difference := new(big.Rat).Sub(again.value, q.value)
		assert.LessOrEqual(t, difference.Abs(difference).Cmp(thousandTo(smallest)), 0, "%s became %s", text, q.String())
	})
	// What kube-apiserver stored in a LimitRange.
	for text, want := range map[string]string{
		"1000m": "1", "1000000000": "1G", "1024Mi": "1Gi", "0.5": "500m", "0": "0", "0Gi": "0", "1500m": "1500m", "1e3": "1e3",
		"12e2": "1200", "1.5e3": "1500", "1e-3": "1e-3", "0.5Gi": "512Mi", "100Ki": "100Ki", "1.5Mi": "1536Ki", "1n": "1m",
		"0.1n": "1m", "1025": "1025", "906.25Ki": "928k", "1023Ki": "1023Ki", "0.001Ki": "1024m", "1000Ki": "1000Ki",
		"1.1": "1100m", "1E": "1E", "1e6": "1e6", "12345e2": "1234500", "100e-3": "100e-3", "1000k": "1M",
		"1.2345678901": "1235m", "2000Mi": "2000Mi", "3000Gi": "3000Gi", "0.0001Ki": "103m", "1024": "1024", "2048Ki": "2Mi",
		"1e9": "1e9", "10e6": "10e6", "1e1": "10",
	} {
		q, ok := parseQuantity(text)
		require.True(t, ok, text)
		assert.Equal(t, want, q.String(), text)
	}
	for _, text := range []string{"", "x", "1x", "1e3Mi", "1.2.3", "--1"} {
		_, ok := parseQuantity(text)
		assert.False(t, ok, text)
	}
	_, ok := parseQuantity(true)
	assert.False(t, ok)
	assert.Equal(t, true, canonicalQuantity(true))
	assert.Equal(t, "0", quantityText(nil))
}

func BenchmarkTableOf500Pods(b *testing.B) {
	d, _ := NewCatalog().Lookup(api.PodsResource)
	var objects []*store.Object
	for _, c := range readRecorded(b)["pods"].Cases {
		if c.Name == "running" {
			object := stored(b, d, c.Steps[0].Answer)
			for range 500 {
				objects = append(objects, object)
			}
		}
	}
	require.NotEmpty(b, objects)
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = Table(buffer[:0], d, func(yield func(*store.Object) bool) {
			for _, o := range objects {
				if !yield(o) {
					return
				}
			}
		}, TableOptions{})
	}
	b.ReportMetric(float64(len(buffer)), "bytes/table")
}

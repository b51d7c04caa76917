package resources

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

const gadgetCRD = `{"metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
 "names":{"plural":"gadgets","kind":"Gadget","shortNames":["gd"],"categories":["all"]},
 "versions":[
  {"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},
  {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object",
    "x-kubernetes-preserve-unknown-fields":true,"properties":{"color":{"type":"string"},"size":{"type":"integer"}}}}}},
   "selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.size"}],
   "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}},
   "additionalPrinterColumns":[
    {"name":"Color","type":"string","jsonPath":".spec.color"},
    {"name":"Size","type":"integer","jsonPath":".spec.size"},
    {"name":"Ratio","type":"number","jsonPath":".spec.ratio"},
    {"name":"On","type":"boolean","jsonPath":".spec.on"},
    {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
    {"name":"Hosts","type":"string","jsonPath":".spec.hosts","priority":1,"description":"Where."},
    {"name":"First","type":"string","jsonPath":".spec.hosts[0]"},
    {"name":"All","type":"string","jsonPath":".spec.hosts[*]"},
    {"name":"Map","type":"string","jsonPath":".spec.map"},
    {"name":"Until","type":"date","jsonPath":".spec.until"},
    {"name":"Wrong","type":"integer","jsonPath":".spec.color"},
    {"name":"Text","type":"string","jsonPath":".spec.size"},
    {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]},
  {"name":"v2alpha1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

func parse(t testing.TB, text string) *api.Unstructured {
	t.Helper()
	var o api.Unstructured
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return &o
}

func withGadgets(t testing.TB) *Catalog {
	t.Helper()
	c := NewCatalog()
	require.NoError(t, c.PutCustom(parse(t, gadgetCRD)))
	return c
}

func gadgets(t testing.TB, version string) *Definition {
	t.Helper()
	d, ok := withGadgets(t).Lookup(api.GroupVersionResource{Group: "example.com", Version: version,
		Resource: "gadgets"})
	require.True(t, ok)
	return d
}

func qualified(definitions []*Definition) []string {
	var found []string
	for _, d := range definitions {
		found = append(found, d.Qualified())
	}
	return found
}

func TestCatalogOfBuiltInTypes(t *testing.T) {
	c := NewCatalog()
	for name := range builtinHooks(&allocator{}) {
		assert.Contains(t, qualified(c.All()), name, "hooks without a type")
	}
	for name, rules := range typeRules() {
		assert.Contains(t, qualified(c.All()), name, "rules without a type")
		assert.Contains(t, []string{"", counted, countedMore}, rules.Generation, name)
		assert.True(t, rules.Name == "" || nameRules[rules.Name] != nil, name)
	}
	for name, columns := range sources() {
		known := append(qualified(c.All()), "every type")
		assert.Contains(t, known, name, "columns without a type")
		for column, from := range columns {
			assert.Contains(t, formats, from.As, "%s: %s", name, column)
		}
	}
	for _, d := range c.All() {
		found, ok := c.Lookup(d.Resource())
		assert.True(t, ok)
		assert.Same(t, d, found)
		assert.Equal(t, d.Kind+"List", d.ListKind)
		assert.NotNil(t, d.Strategy.Default)
		for _, column := range d.Columns {
			assert.NotNil(t, column.Cell, "%s: %s", d.Kind, column.Name)
		}
		if d.Strategy.Validate != nil {
			assert.NotNil(t, d.Strategy.ValidateUpdate, "%s: what is checked at creation is checked at updates", d.Kind)
		}
	}
}

func TestVersionsByPreference(t *testing.T) {
	order := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"}
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, sign(i-j), sign(compareVersions(a, b)), "%s and %s", a, b)
		}
	}
}

func sign(n int) int { return min(max(n, -1), 1) }

// As kube-apiserver showed three objects of this definition.
func TestCustomTable(t *testing.T) {
	d := gadgets(t, "v1")
	now := time.Date(2026, 11, 21, 7, 39, 7, 0, time.UTC)
	for text, want := range map[string][]any{
		`{"metadata":{"name":"a","creationTimestamp":"2026-11-21T07:39:06Z"},"spec":{"color":"red","size":3,"ratio":0.5,"on":true,"hosts":["x","y"],"map":{"b":1,"a":"c"},"until":"2026-01-01T00:00:00Z"},
		  "status":{"conditions":[{"type":"Other","status":"No"},{"type":"Ready","status":"True"}]}}`: {"a", "red",
			int64(3), 0.5, true, "True", `["x","y"]`, "x", "x", `{"a":"c","b":1}`, "324d", nil, "3", "1s"},
		`{"metadata":{"name":"b","creationTimestamp":"2026-11-21T07:39:06Z"}}`:                                                                  {"b", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, "1s"},
		`{"metadata":{"name":"c","creationTimestamp":"2026-11-21T07:39:06Z"},"spec":{"ratio":3,"on":"yes","hosts":"x","map":5,"until":"soon"}}`: {"c", nil, nil, int64(3), nil, nil, "x", nil, nil, "5", "<invalid>", nil, nil, "1s"},
	} {
		table := tableOf(t, d, stored(t, d, parse(t, text)), TableOptions{Now: now})
		rows := items(table.Object, "rows")
		assert.Equal(t, want, rows[0]["cells"])
		columns := items(table.Object, "columnDefinitions")
		assert.Equal(t, "The value at .spec.color.", columns[1]["description"])
		assert.Equal(t, tree{"name": "Hosts", "type": "string", "format": "", "description": "Where.",
			"priority": int64(1)}, columns[6])
	}
	beta := gadgets(t, "v1beta1")
	require.Len(t, beta.Columns, 2)
	assert.Equal(t, "date", beta.Columns[1].Type)
	assert.Equal(t, "<unknown>", customCell("date", []any{""}, now))
	assert.Equal(t, int64(2), customCell("integer", []any{2.7}, now))
	assert.Empty(t, printed(nil))
	assert.Equal(t, "1.5", printed(1.5))
}

// A description of an unknown type or field would never be read.
func TestDescriptionsAreOfTypesAndFields(t *testing.T) {
	fields := map[string]map[string]*Type{}
	for name, typ := range Builtin().types {
		short := name[strings.LastIndexByte(name, '.')+1:]
		if fields[short] == nil {
			fields[short] = map[string]*Type{}
		}
		for field, t := range typ.fields {
			fields[short][field] = t
		}
	}
	for name, sentence := range descriptions() {
		assert.True(t, strings.HasSuffix(sentence, "."), "%s: %s", name, sentence)
		typ, field, hasField := strings.Cut(name, ".")
		if typ == "*" {
			continue
		}
		require.Contains(t, fields, typ, name)
		if hasField {
			assert.Contains(t, fields[typ], field, name)
		}
	}
}

func TestKindsAreDescribed(t *testing.T) {
	renderedTypes()
	for gvk, name := range Builtin().kinds {
		if strings.HasSuffix(gvk.Kind, "List") || gvk.Kind == "WatchEvent" {
			continue
		}
		assert.NotEmpty(t, Builtin().definitions[name].Schema["description"], gvk)
	}
}

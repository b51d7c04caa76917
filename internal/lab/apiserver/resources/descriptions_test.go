package resources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

package schema

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed descriptions.txt
var descriptionsText string

// descriptions are our own sentences about types and fields: "Pod", "PodSpec.containers", and "*.spec" for any type.
var descriptions = sync.OnceValue(func() map[string]string {
	sentences := map[string]string{}
	for line := range strings.Lines(descriptionsText) {
		if name, sentence, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(name, "#") {
			sentences[name] = sentence
		}
	}
	return sentences
})

// described returns a copy of a definition's schema with the sentences put in.
func described(d *definition) map[string]any {
	sentences := descriptions()
	name := d.goName()
	name = name[strings.LastIndexByte(name, '.')+1:]
	out := make(map[string]any, len(d.Schema)+1)
	for key, value := range d.Schema {
		out[key] = value
	}
	if sentence := sentences[name]; sentence != "" {
		out["description"] = sentence
	}
	properties, ok := d.Schema["properties"].(map[string]any)
	if !ok {
		return out
	}
	documented := make(map[string]any, len(properties))
	for field, value := range properties {
		documented[field] = value
		sentence := sentences[name+"."+field]
		if sentence == "" {
			sentence = sentences["*."+field]
		}
		if schema, ok := value.(map[string]any); ok && sentence != "" {
			documented[field] = with(schema, "description", sentence)
		}
	}
	out["properties"] = documented
	return out
}

// with returns a copy of a schema with one more member.
func with(schema map[string]any, key string, value any) map[string]any {
	out := make(map[string]any, len(schema)+1)
	for k, v := range schema {
		out[k] = v
	}
	out[key] = value
	return out
}

package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"orrery/restclient/api"
)

// toYAML converts a JSON document to YAML as kube-apiserver does: keys sorted, lists not indented.
func toYAML(document []byte) []byte {
	if bloats(document) {
		return document // JSON is YAML, too
	}
	var tree api.Unstructured
	if err := json.Unmarshal(document, &tree); err != nil {
		return document // not an object: this server sends only objects
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(tree.Object); err != nil {
		return document
	}
	return out.Bytes()
}

// fromYAML converts YAML to JSON. Duplicate keys are reported; the last value counts.
func fromYAML(data []byte) (document []byte, duplicates []string, err error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, nil, err
	}
	if root.Kind == 0 { // only comments
		return []byte("null"), nil, nil
	}
	reader := yamlReader{budget: maxYAMLValues}
	value, err := reader.value(&root, 0)
	if err != nil {
		return nil, nil, err
	}
	if len(reader.duplicates) > 0 {
		duplicates = []string{"yaml: unmarshal errors:\n  " + strings.Join(reader.duplicates, "\n  ")}
	}
	document, err = json.Marshal(value)
	return document, duplicates, err
}

// Limits of a document: its depth, the same as for JSON, and the number of values after aliases are
// expanded. A document without aliases cannot reach the latter.
const (
	maxYAMLDepth  = 10000
	maxYAMLValues = 4 << 20
)

var (
	errYAMLDepth = errors.New("yaml: exceeded max depth")
	errYAMLSize  = errors.New("yaml: document contains excessive aliasing")
)

// yamlReader converts YAML nodes to JSON values.
type yamlReader struct {
	budget     int
	duplicates []string
}

func (y *yamlReader) value(node *yaml.Node, depth int) (any, error) {
	if y.budget--; y.budget < 0 {
		return nil, errYAMLSize
	}
	if depth > maxYAMLDepth {
		return nil, errYAMLDepth
	}
	switch node.Kind {
	case yaml.DocumentNode:
		return y.value(node.Content[0], depth+1)
	case yaml.AliasNode:
		return y.value(node.Alias, depth+1)
	case yaml.MappingNode:
		return y.mapping(node, depth)
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			value, err := y.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return y.scalar(node)
}

func (y *yamlReader) scalar(node *yaml.Node) (any, error) {
	if node.ShortTag() == "!!timestamp" || node.ShortTag() == "!!binary" {
		return node.Value, nil // not in JSON
	}
	var value any
	err := node.Decode(&value)
	return value, err
}

func (y *yamlReader) mapping(node *yaml.Node, depth int) (any, error) {
	out := make(map[string]any, len(node.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.ShortTag() == "!!merge" {
			merged = append(merged, node.Content[i+1])
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("yaml: line %d: keys must be scalars", key.Line)
		}
		if _, taken := out[key.Value]; taken {
			y.duplicates = append(y.duplicates, fmt.Sprintf("line %d: key %q already set in map", key.Line, key.Value))
		}
		value, err := y.value(node.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		out[key.Value] = value
	}
	for _, from := range merged {
		if err := y.merge(out, from, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// merge adds the keys of "<<" that the map does not have.
func (y *yamlReader) merge(out map[string]any, from *yaml.Node, depth int) error {
	value, err := y.value(from, depth)
	if err != nil {
		return err
	}
	sources, isList := value.([]any)
	if !isList {
		sources = []any{value}
	}
	for _, source := range sources {
		fields, ok := source.(map[string]any)
		if !ok {
			return fmt.Errorf("yaml: line %d: map merge requires map or sequence of maps as the value", from.Line)
		}
		for key, inner := range fields {
			if _, taken := out[key]; !taken {
				out[key] = inner
			}
		}
	}
	return nil
}

package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"orrery/restclient/api"
)

// toYAML writes a JSON document in YAML as the original does: keys sorted, lists not indented.
func toYAML(document []byte) []byte {
	var tree api.Unstructured
	if err := json.Unmarshal(document, &tree); err != nil {
		return document // not an object; nothing that this server sends
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

// fromYAML turns a YAML document into JSON. Keys that are not strings are written as such. The parser bounds how much aliases may
// blow a document up.
func fromYAML(data []byte) ([]byte, error) {
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	converted, err := yamlValue(value, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(converted)
}

// deepestYAML is how deep a document may nest: as deep as the JSON decoder lets it.
const deepestYAML = 10000

func yamlValue(value any, depth int) (any, error) {
	if depth > deepestYAML {
		return nil, fmt.Errorf("exceeded max depth")
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			converted, err := yamlValue(inner, depth+1)
			if err != nil {
				return nil, err
			}
			v[key] = converted
		}
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			converted, err := yamlValue(inner, depth+1)
			if err != nil {
				return nil, err
			}
			out[fmt.Sprint(key)] = converted
		}
		return out, nil
	case []any:
		for i, inner := range v {
			converted, err := yamlValue(inner, depth+1)
			if err != nil {
				return nil, err
			}
			v[i] = converted
		}
	}
	return value, nil
}

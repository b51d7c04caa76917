package rbac

import (
	"bytes"
	"encoding/json"
	"io"

	"go.yaml.in/yaml/v3"
)

// WriteYAML writes the manifests as documents of one file, each rule below its reason.
func WriteYAML(w io.Writer, manifests []Manifest) error {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	for _, manifest := range manifests {
		var document yaml.Node
		if err := document.Encode(manifest); err != nil {
			return err
		}
		explainRules(&document, manifest.reasons)
		if err := encoder.Encode(&document); err != nil {
			return err
		}
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

// explainRules writes the reasons above the rules.
func explainRules(document *yaml.Node, reasons []string) {
	for i := 0; i+1 < len(document.Content); i += 2 {
		if document.Content[i].Value != "rules" {
			continue
		}
		for j, rule := range document.Content[i+1].Content {
			rule.HeadComment = reasons[j]
		}
	}
}

// WriteJSON writes the manifests as one list, which kubectl also accepts.
func WriteJSON(w io.Writer, manifests []Manifest) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Items      []Manifest `json:"items"`
	}{"v1", "List", manifests})
}

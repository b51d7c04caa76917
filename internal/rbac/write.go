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

// Config selects rights and their subject. The zero value is a run without controllers, Events and
// leader election.
type Config struct {
	// Name is the name of the roles and bindings.
	Name string
	// Subject gets the rights.
	Subject Subject

	// Controllers are the rights of the selected controllers; see [NamespaceController] for one of
	// them.
	Controllers []Right

	// DryRun omits the rights for election and Events: a run with --dry-run writes nothing.
	DryRun bool
	// LeaderElection is true unless --leader-elect=false. LeaseNamespace and LeaseName identify its
	// Lease.
	LeaderElection            bool
	LeaseNamespace, LeaseName string
	// Events is true unless --events=false. EventsEverywhere: Events in all namespaces, not only
	// those about namespaces.
	Events, EventsEverywhere bool
}

// Subject is a user, group or service account that gets rights.
type Subject struct {
	Kind      string `json:"kind" yaml:"kind"`
	APIGroup  string `json:"apiGroup,omitempty" yaml:"apiGroup,omitempty"`
	Name      string `json:"name" yaml:"name"`
	Namespace string `json:"namespace,omitempty" yaml:"namespace,omitempty"`
}

// ServiceAccount returns the subject for a service account of pods.
func ServiceAccount(namespace, name string) Subject {
	return Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

// User returns the subject for a user name as the API server sees it, such as the common name of a
// client certificate.
func User(name string) Subject { return Subject{Kind: "User", APIGroup: group, Name: name} }

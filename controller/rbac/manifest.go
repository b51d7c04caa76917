package rbac

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	group      = "rbac.authorization.k8s.io"
	apiVersion = group + "/v1"
)

// Manifest is a role or a binding.
type Manifest struct {
	APIVersion string    `json:"apiVersion" yaml:"apiVersion"`
	Kind       string    `json:"kind" yaml:"kind"`
	Metadata   Metadata  `json:"metadata" yaml:"metadata"`
	Rules      []Rule    `json:"rules,omitempty" yaml:"rules,omitempty"`
	RoleRef    *RoleRef  `json:"roleRef,omitempty" yaml:"roleRef,omitempty"`
	Subjects   []Subject `json:"subjects,omitempty" yaml:"subjects,omitempty"`

	reasons []string // of the rules
}

// Metadata is the metadata of a manifest.
type Metadata struct {
	Name      string            `json:"name" yaml:"name"`
	Namespace string            `json:"namespace,omitempty" yaml:"namespace,omitempty"`
	Labels    map[string]string `json:"labels" yaml:"labels"`
}

// RoleRef is the role that a binding gives to its subjects.
type RoleRef struct {
	APIGroup string `json:"apiGroup" yaml:"apiGroup"`
	Kind     string `json:"kind" yaml:"kind"`
	Name     string `json:"name" yaml:"name"`
}

// Manifests returns the roles with the rights of a run, each followed by its binding to the
// subject.
func Manifests(config Config) []Manifest { return Bind(config, Rights(config)) }

// Bind puts rights into roles, one for each namespace and purpose, and binds them to the subject.
// The rights of a role must be adjacent.
func Bind(config Config, rights []Right) []Manifest {
	var roles []Manifest
	for i, right := range rights {
		if i == 0 || rights[i-1].Namespace != right.Namespace || rights[i-1].Purpose != right.Purpose {
			roles = append(roles, newRole(config, right))
		}
		role := &roles[len(roles)-1]
		role.Rules = append(role.Rules, right.Rule)
		role.reasons = append(role.reasons, right.Reason)
	}
	var all []Manifest
	for _, role := range roles {
		binding := Manifest{
			APIVersion: apiVersion, Kind: role.Kind + "Binding", Metadata: role.Metadata,
			RoleRef:  &RoleRef{APIGroup: group, Kind: role.Kind, Name: role.Metadata.Name},
			Subjects: []Subject{config.Subject},
		}
		all = append(all, role, binding)
	}
	return all
}

// newRole returns a role without rules.
func newRole(config Config, right Right) Manifest {
	role := Manifest{
		APIVersion: apiVersion, Kind: "ClusterRole",
		Metadata: Metadata{Name: config.Name, Labels: config.labels()},
	}
	if right.Namespace != "" {
		role.Kind = "Role"
		role.Metadata.Name, role.Metadata.Namespace = config.Name+"-"+right.Purpose, right.Namespace
	}
	return role
}

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

func (c Config) labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": cmp.Or(c.Program, "orrery")}
}

// Account returns the service account that is the subject.
func Account(config Config) Manifest {
	return Manifest{APIVersion: "v1", Kind: "ServiceAccount", Metadata: Metadata{
		Name: config.Subject.Name, Namespace: config.Subject.Namespace, Labels: config.labels(),
	}}
}

// Config selects rights and their subject. The zero value is a run without controllers, Events and
// leader election.
type Config struct {
	// Program is in the label app.kubernetes.io/name of everything. Default: orrery.
	Program string
	// Name is the name of the roles and bindings.
	Name string
	// Subject gets the rights.
	Subject Subject

	// Controllers are the rights of the selected controllers.
	Controllers []Right

	// LeaderElection is true unless --leader-elect=false or --dry-run. LeaseNamespace and LeaseName
	// identify its Lease.
	LeaderElection            bool
	LeaseNamespace, LeaseName string
	// Events is true unless --events=false or --dry-run. EventsEverywhere: Events in all namespaces,
	// not only those about namespaces.
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

// ParseServiceAccount returns the subject for the service account that a text names as
// namespace/name.
func ParseServiceAccount(text string) (Subject, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return Subject{}, fmt.Errorf("must be a namespace and a name, such as kube-system/orrery, not %q", text)
	}
	return ServiceAccount(namespace, name), nil
}

// User returns the subject for a user name as the API server sees it, such as the common name of a
// client certificate.
func User(name string) Subject { return Subject{Kind: "User", APIGroup: group, Name: name} }

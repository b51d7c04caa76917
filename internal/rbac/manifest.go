package rbac

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
			roles = append(roles, newRole(config.Name, right))
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
func newRole(name string, right Right) Manifest {
	role := Manifest{
		APIVersion: apiVersion, Kind: "ClusterRole",
		Metadata: Metadata{Name: name, Labels: map[string]string{"app.kubernetes.io/name": "orrery"}},
	}
	if right.Namespace != "" {
		role.Kind = "Role"
		role.Metadata.Name, role.Metadata.Namespace = name+"-"+right.Purpose, right.Namespace
	}
	return role
}

package rbac

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

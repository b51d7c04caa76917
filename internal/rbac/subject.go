package rbac

// Subject is who gets rights.
type Subject struct {
	Kind      string `json:"kind" yaml:"kind"`
	APIGroup  string `json:"apiGroup,omitempty" yaml:"apiGroup,omitempty"`
	Name      string `json:"name" yaml:"name"`
	Namespace string `json:"namespace,omitempty" yaml:"namespace,omitempty"`
}

// ServiceAccount is the user that pods are.
func ServiceAccount(namespace, name string) Subject {
	return Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

// User is a user by the name that the API server knows, such as the common name of a client certificate.
func User(name string) Subject { return Subject{Kind: "User", APIGroup: group, Name: name} }

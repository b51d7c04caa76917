package kubeconfig

// Change says that a file has changed while the configuration from it is in use, see Options.Changed.
type Change struct {
	Kind ChangeKind
	Text string // one sentence; nothing secret
}

// ChangeKind tells changes apart.
type ChangeKind string

const (
	// CredentialsRenewed: there are other credentials for the same user name, and they are used from now on.
	CredentialsRenewed ChangeKind = "CredentialsRenewed"
	// AuthorityRenewed: there is another certificate authority for the same server, and it is used from now on.
	AuthorityRenewed ChangeKind = "AuthorityRenewed"
	// NotFollowed: something else is different, such as the server. What was loaded stays in use; a restart follows it.
	NotFollowed ChangeKind = "NotFollowed"
	// Unusable: the file cannot be used as it is now. What was loaded stays in use.
	Unusable ChangeKind = "Unusable"
)

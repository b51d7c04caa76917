package authn

// User is who sends a request.
type User struct {
	// Name is the user name: "kubernetes-admin", "system:serviceaccount:default:default".
	Name string
	// UID tells two users of one name apart; often "".
	UID string
	// Groups are the groups that the user is in, besides system:authenticated, which every user is in who is somebody.
	Groups []string
}

// The names that Kubernetes gives to special users and groups.
const (
	// Anonymous is the user of requests without credentials.
	Anonymous = "system:anonymous"
	// GroupUnauthenticated is the group of the anonymous user, GroupAuthenticated that of all others.
	GroupUnauthenticated = "system:unauthenticated"
	GroupAuthenticated   = "system:authenticated"
	// GroupMasters is the group that may do everything.
	GroupMasters = "system:masters"
)

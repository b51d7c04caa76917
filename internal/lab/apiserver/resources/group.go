package resources

// Group is an API group with everything that is served in it, for discovery.
type Group struct {
	// Name is "" for the core group.
	Name string
	// Versions, the preferred one first.
	Versions []GroupVersion
}

// GroupVersion is a version of a group.
type GroupVersion struct {
	Version string
	// Definitions are sorted by plural name.
	Definitions []*Definition
	// Unavailable marks a version that another server is said to serve which does not answer: discovery lists it as
	// stale and requests to it are answered 503.
	Unavailable bool
}

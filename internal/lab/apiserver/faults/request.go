package faults

// Request is what a fault may look at to decide whether a request is hit.
type Request struct {
	// Verb is the verb of the API as RBAC calls it: get, list, watch, create, update, patch, delete, deletecollection.
	// For paths that are no resources it is the HTTP method in lower case.
	Verb string
	// Group, Version, Resource and Subresource say what is asked for; Resource is empty for paths that are no resources.
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	Path                                  string
	User                                  string
	Watch                                 bool
}

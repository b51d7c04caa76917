// Package requestinfo reads what a request is about from its method and path.
//
// # Concept
//
// The paths of the API are a language of their own: /api/v1/namespaces/shop/pods/web/log is the subresource log of the pod web
// in the namespace shop, and /api/v1/namespaces/shop is a namespace. [Parse] knows the grammar, and nothing else: whether there
// is such a resource, and whether it has the verb, is decided by who knows the resources.
//
//	/api/{version}/{resource}[/{name}[/{subresource}]]
//	/api/{version}/namespaces/{namespace}/{resource}[/{name}[/{subresource}]]
//	/apis/{group}/{version}/...           the same for the other groups
//	/api/{version}/watch/...              the old form of ?watch=1
//
// # Guarantees
//
// Every method and path has an [Info]; one that is not about a resource says so.
//
// # Goroutines
//
// None.
//
// # Failure
//
// There is none.
//
// # Testing
//
// A table of paths, and random ones.
//
// Next: package negotiation
package requestinfo

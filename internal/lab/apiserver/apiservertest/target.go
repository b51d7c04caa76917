package apiservertest

import "net/http"

// Target is a server to have conversations with.
type Target struct {
	// URL is where it listens, without a slash at the end.
	URL string
	// Transport sends requests of a user who may do everything (in Kubernetes' terms: of the group system:masters).
	Transport http.RoundTripper
	// Anonymous sends requests as they are, without credentials.
	Anonymous http.RoundTripper
}

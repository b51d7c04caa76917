// Package authn finds out who sends a request.
//
// # Concept
//
// A request carries a bearer token, or its connection a client certificate, or neither. An [Authenticator] turns that into a
// [User]: a name and groups. What the user may do is not decided here.
//
// # Guarantees
//
// A credential that is presented and not known is an error, even where requests without credentials are welcome: whoever
// presents one wants to be somebody. Tokens are compared in constant time.
//
// # Goroutines
//
// None. An Authenticator does not change, and may be used from any goroutine.
//
// # Failure
//
// A request that is nobody's is answered with 401, without a hint why.
//
// # Testing
//
// Requests with every mixture of credentials.
//
// Next: package registry
package authn

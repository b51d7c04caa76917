// Package apierrors makes the refusals of the API server: errors that carry a Status, worded as kube-apiserver words them.
//
// # Concept
//
// An API server refuses in a form that programs read: an HTTP code, a reason, the object that it is about, the causes. The text
// is for people, but tools print it, tests compare it and runbooks quote it, so this package has one constructor for each
// kind of refusal with the text that the real server was seen to send, and nobody else makes up sentences.
//
//	about an object        NotFound, AlreadyExists, GenerateNameConflict, Conflict, Invalid, Forbidden, NamespaceTerminating
//	about a version        Expired, TooLargeVersion
//	about a request        BadRequest, MethodNotAllowed, NotAcceptable, UnsupportedMediaType, RequestEntityTooLarge
//	about who asks         Unauthorized
//	about the server       TooManyRequests, ServiceUnavailable, InternalError, Timeout
//
// What is wrong with the fields of an object is said by [FieldError] values, which [Invalid] puts together.
//
// # Guarantees
//
// Every function returns a new error that nobody else holds: callers may add details to it. Group "" is the core group. The
// package restclient/api tells these errors apart again (IsNotFound and so on), on both sides of the connection.
//
// # Goroutines
//
// None. All functions may be called from any goroutine.
//
// # Failure
//
// Nothing here fails.
//
// # Testing
//
// Tables of the documents that a kube-apiserver 1.36 sent for the same mistakes.
//
// Next: package store
package apierrors

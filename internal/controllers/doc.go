// Package controllers starts the controllers that a user selects.
//
// # Concept
//
// A controller manager is a map from names to initialisers. An [Initializer] gets everything that controllers
// share, the client, the informer factory, the resources that the server has, and starts one controller or says
// why it is not needed. Which initialisers run is decided by a list in the manner of kube-controller-manager's
// --controllers: "*" for all, "name" for one, "-name" for all but one.
//
// # Guarantees
//
// A controller whose resource the server does not have is skipped, not failed: the same binary serves clusters
// with different APIs. [Start] returns when every selected controller has been set up; they run until the context
// ends.
//
// # Goroutines
//
// [Start] starts one goroutine for each controller; [Running.Wait] returns when all of them have ended.
//
// # Failure
//
// A name that nobody knows is an [*UnknownNameError] that lists those that exist. An initialiser that fails
// stops the start.
//
// # Testing
//
// Selection is a table; starting is tested with initialisers that record what they were given.
//
// Next: package nsctl
package controllers

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
// with different APIs. [Prepare] returns when every selected controller has been set up and its informers run: from
// then on it stands by, with warm caches. [Prepared.Work] lets all of them work. In between a process may wait until it
// is the leader (package leaderelection), and what happens meanwhile is not lost.
//
// # Goroutines
//
// [Prepare] starts those of the informers, which end with its context. [Prepared.Work] starts one for each controller and
// returns when all of them have ended.
//
// # Failure
//
// A name that nobody knows is an [*UnknownNameError] that lists those that exist. An initialiser that fails
// stops the preparation before anything runs.
//
// # Testing
//
// Selection is a table; preparing is tested with initialisers that record what they were given.
//
// Next: package nsctl
package controllers

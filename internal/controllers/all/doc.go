// Package all is the list of the controllers that there are: for each its name, what it needs, and the function that sets it up.
//
// # Concept
//
// This is NewControllerInitializers of the article. A function here makes a controller of what [controllers.ControllerContext]
// gives it: informers that are shared, a client of its own, hooks. It has nothing to say about how the controller works.
//
// Only namespace-controller is on by default. The others are examples, and kube-controller-manager has controllers of the same
// names; they run when they are named.
//
// # Guarantees
//
// The order is that of the names. Names are kube-controller-manager's where it has the controller.
//
// # Goroutines
//
// None. The controllers start theirs when they run.
//
// # Failure
//
// An initialiser fails if its controller cannot be made, such as one that is to use a driver that there is not.
//
// # Testing
//
// All controllers run in one process against the API server in memory, which counts the watches.
//
// Next: package cmd/orrery
package all

// Package manager runs the genuine kube-controller-manager on "lab serve".
//
// # Concept
//
// Three of its controllers, unmodified: the namespace controller, the one that gives each namespace a default service
// account, and the one that publishes the bundle of the cluster's authority. Between them they use most of what a
// controller asks of an API server: discovery, shared informers with streaming lists, metadata clients, deletion of
// collections, finalize and status. What they come to is checked through the API alone.
//
// The code is in the tests. Package e2e goes further with the namespace controller alone: it compares.
//
// # Testing
//
// The tests need bin/lab and bin/controlplane; "make e2e" in the repository's root builds them.
//
// Next: package e2e
package manager

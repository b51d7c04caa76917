// Package flight lets concurrent callers share one run of the same work.
//
// # Concept
//
// Ten workers find their token expired within the same millisecond. The work should be done once. A
// [Flight] starts a run for the first of them, and the others wait for that run.
//
// # Guarantees
//
// At most one run is in progress at any moment, even if its callers have given up and new ones have
// come. A caller waits no longer than its own context; the context of the run is cancelled when the
// last of its callers has left.
//
// # Goroutines
//
// Each run has a goroutine that ends when the function returns.
//
// # Failure
//
// All callers of a run get its error as it is. A panic of the function is a panic of the program.
//
// # Testing
//
// The tests run in synctest bubbles, which end only when all goroutines are gone.
//
// Next: package restclient/credentials
package flight

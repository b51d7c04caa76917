// Package verdict is lab 13 of the workshop: what two namespaces hang for, how that is proven, and
// how they go without harm.
//
// # Concept
//
// A [Verdict] is data: the causes by their ids in the catalogue of `orrery why`, the requests whose
// answers prove them, and the requests of the repair. [First] and [Second] are the verdicts on the
// two namespaces of `lab break first` and `lab break second`. The tests set the same namespaces up
// again and replay the verdict on them.
//
// # Failure
//
// A repair passes if the namespace is gone and nothing is stranded, left behind outside, or damaged
// elsewhere. See package causes.
package verdict

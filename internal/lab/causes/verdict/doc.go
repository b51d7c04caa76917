// Package verdict is lab 13 of the workshop: why two namespaces are stuck, how that is proven, and
// how they are repaired without harm.
//
// # Concept
//
// A [Verdict] is data: the causes by their ids in the catalogue of `orrery why`, the requests whose
// answers prove them, and the requests of the repair. The learner writes verdict.yaml, with the
// verdicts on the two namespaces that `lab break first` and `lab break second` set up for a seed.
// The tests set the same namespaces up again and replay the verdicts on them.
//
// # Failure
//
// A repair passes if the namespace is gone and nothing is stranded, left behind outside, or damaged
// elsewhere. See package causes.
package verdict

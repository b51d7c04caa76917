// Package causes sets up the situations in which a namespace hangs: one fixture for each cause that
// package why knows, with a near miss that looks alike and is not that cause. The workshop breaks a
// cluster with them, and the tests of this package run `orrery why` on each.
//
// A fixture only uses what any client of the API can do, and the faults of the API server in
// memory.
//
// Next: package internal/why
package causes

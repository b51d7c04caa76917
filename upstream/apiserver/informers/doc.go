// Package informers tests client-go's shared informers against "lab serve". Informers of its typed,
// dynamic and metadata clients, with and without streaming lists and selectors, follow the server
// while several writers change objects of several types at random, watches are cut and history is
// compacted. Whenever the writers pause, every store must converge to a consistent list of the
// server, and so must the history of each handler. A failed test prints its seed; ORRERY_SEED
// repeats the random choices, not their timing. The test needs bin/lab.
package informers

// Package compare measures two sides against each other: this project and client-go, doing the same work in turns. This project's
// textbook forms take their turns as well, and are shown without a target.
//
// # Concept
//
// The table of [Measures] says what is compared and what is wanted; [Extras] are shown beside it. Each round of a scenario
// runs every side once, in an order that is swapped from round to round (A B, B A, A B, ...), each side in a process of its
// own. So what slows the machine down for a while slows both sides down, and the ratio of a round is worth more than its
// figures.
//
//	Measures ──> Run ──> Record, one a measure ──> WriteTable, bench.json, Page
//	              │
//	            Runner: Workers (a process a side), deletion.Runner (whole programs on a control plane)
//
// To add a measure: write its scenario for every subject, enter it in Measures, and describe it in texts/. A section
// "## missed NAME OF THE MEASURE" there says why a target is missed; the page has it only while that is so. "## anew NAME OF THE
// MEASURE" says what the target was before it was changed, and why.
//
// # Guarantees
//
// Sides whose proofs differ did not do the same work: there is an error then and no ratio. A ratio whose rounds do not
// agree on who is ahead is called "no difference", whatever it is. Words on the page that depend on figures are computed.
// Files are written all or none.
//
// # Goroutines
//
// None are left when a call returns. The processes of [Workers] stay until Stop.
//
// # Failure
//
// A scenario that cannot be run, or takes longer than [Config] allows, fails with the side and the scenario in the error;
// the others are still measured. The end of the context ends everything, and nothing is written.
//
// # Testing
//
// The statistics are tested with figures whose results are known and with simulated comparisons of a side with itself;
// the table against the list of targets and the scenarios of both sides; the page with records that are made up.
//
// Next: package deletion
package compare

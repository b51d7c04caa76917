// Package display draws a story: live on a terminal, as plain lines elsewhere.
//
// # Concept
//
// Drawing is a pure function from a [story.State] and a size to lines ([Page], [Beat], [Summary]); nothing else knows how
// things look. A [Screen] brings pages to a terminal and rewrites only the lines that have changed, so nothing flickers. A
// [Printer] writes each beat as a line. Both are a [Display].
//
// # Guarantees
//
// A page has exactly the height and at most the width that was asked for, whatever the state. Nothing is said by colour
// alone. A Screen that has been closed has put everything back: cursor, wrapping, and what the terminal showed before.
//
// # Goroutines
//
// [Run] owns the one that draws; it ends before Run's returned function does. Close may be called from any goroutine, such as
// the one that a signal or a panic came up on.
//
// # Failure
//
// A terminal that cannot be written to any more is written to in vain; who runs the demo notices by other means.
//
// # Testing
//
// Golden files hold pages at several sizes; scripts of events test the order of what is drawn.
//
// Next: package stage
package display

// Package plot draws the pictures of benchmarks: bars, lines and percentiles, as SVG.
//
// # Concept
//
// A plot is a struct that says what is to be seen, and its method SVG draws it. There are three:
//
//	Bars         one number for each thing:    who is faster, by how much
//	Lines        one number along another:     what happens as there are more workers
//	Percentiles  a whole histogram:            what the slowest one in a thousand has to wait
//
// A picture is a pure function of its struct: no clock, no random identifiers, so that a drawing in the repository changes
// when its figures do and not otherwise.
//
// Axes, curves, marks and the SVG are gonum/plot's. By hand are only the bars, because gonum's begin at zero, which a
// logarithmic axis does not have, and have neither whiskers nor labels; the units of ticks; and the head of a picture.
//
// # Guarantees
//
// The document is well-formed XML, needs no script, no font and no file besides itself, and has a title. Series differ in colour, in brightness and in the shape of their marks: no
// meaning is in the colour alone. Texts have the room that the widest usual font asks for.
//
// # Goroutines
//
// None. SVG may be called from any goroutine as long as nobody changes the struct.
//
// # Failure
//
// There is none: a plot without data is a picture that says so, a number that a logarithmic axis cannot show (zero, or
// less) sits at the edge of it, and what is not a number is left out.
//
// # Testing
//
// Documents are parsed; a test measures every text of every example and fails if one is cut off. Golden files show what a
// change does to the pictures.
//
// Next: package worker
package plot

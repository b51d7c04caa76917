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
// # Guarantees
//
// The document is well-formed XML, needs no script, no font and no file besides itself, and has a title and a
// description for those who cannot see it. It brings its own background, light or dark as the reader prefers, so it can
// stand on any page. Series differ in colour, in brightness and in the shape of their marks: no meaning is in the colour
// alone. Text is measured with the widths of a wide font, and the margins are as wide as the text asks for.
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
// Documents are parsed; a test measures every text of every example and fails if two overlap or one is cut off. Golden
// files show what a change does to the pictures.
//
// Next: package worker
package plot

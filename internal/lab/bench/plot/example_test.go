package plot_test

import (
	"fmt"
	"strings"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/plot"
)

// A picture is a string of XML; its title says what it shows.
func ExampleBars_SVG() {
	svg := plot.Bars{
		Title:  "Time of an operation",
		Axis:   plot.Axis{Title: "time", Unit: bench.Nanoseconds},
		Series: []string{"ours", "theirs"},
		Groups: []plot.Group{{Name: "Add, Get, Done", Values: []plot.Value{{At: 62}, {At: 310, Low: 300, High: 345}}}},
	}.SVG()
	_, rest, _ := strings.Cut(string(svg), "<title>")
	title, _, _ := strings.Cut(rest, "<")
	fmt.Println(title)
	// Output: Time of an operation
}

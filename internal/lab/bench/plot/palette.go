package plot

import (
	"fmt"
	"strings"
)

// ink is a colour on light and on dark paper.
type ink struct {
	class       string
	light, dark string
}

// The colours of everything that is not a series.
var (
	paper = ink{"paper", "#ffffff", "#161b22"}
	frame = ink{"frame", "#d0d7de", "#30363d"}
	black = ink{"black", "#1f2328", "#f0f3f6"} // text that matters
	gray  = ink{"gray", "#57606a", "#9ea7b3"}  // text that helps
	grid  = ink{"grid", "#e4e8ec", "#2b323b"}
	faint = ink{"faint", "#f3f5f7", "#1f252d"} // grid lines between ticks
)

// palette are the colours of series. People with any kind of colour vision tell the first four apart, which differ in
// brightness as well (blue and vermillion are those of Okabe and Ito); a test computes it. The others need their marks.
var palette = []ink{
	{"s0", "#0072b2", "#56b4e9"}, // blue
	{"s1", "#d55e00", "#ff9e4a"}, // vermillion
	{"s2", "#1f5130", "#d5f0c8"}, // green, dark on white and pale on black
	{"s3", "#8f45e0", "#a86bff"}, // violet
	{"s4", "#8a6d00", "#f0e442"}, // yellow
	{"s5", "#6b7580", "#8b949e"}, // gray
}

// seriesInk is the colour of a series; they begin again after the sixth, with other marks.
func seriesInk(i int) ink { return palette[i%len(palette)] }

// style is the style sheet: the document has the light colours in its attributes, for programs that know no style sheets,
// and this replaces them for readers who prefer dark pages.
func style() string {
	var css strings.Builder
	css.WriteString("text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif}")
	css.WriteString("@media (prefers-color-scheme:dark){")
	for _, i := range append([]ink{paper, frame, black, gray, grid, faint}, palette...) {
		fmt.Fprintf(&css, ".%s{fill:%s}.%s-line{stroke:%s}", i.class, i.dark, i.class, i.dark)
	}
	css.WriteString("}")
	return css.String()
}

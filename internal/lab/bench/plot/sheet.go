// Package plot draws the pictures of benchmarks as SVG: [Bars] compare single numbers, [Lines] show
// a number over a parameter, and [Percentiles] show whole histograms. A plot is a struct, and its
// method SVG draws it. The picture depends on the struct only, without clock or random identifiers,
// so a picture in the repository changes only with its figures. It is well-formed XML that needs no
// script, font or other file. Series differ in colour, brightness and the shape of their marks, and
// texts have room for the widest usual font. Plots without data say so, a logarithmic axis shows
// zero and less at its edge, and NaN is omitted. gonum/plot draws axes, curves and marks; bars,
// units and headings are drawn here.
package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// palette are the colours of series. The first four are distinct with any colour vision and differ
// in brightness (blue and vermillion are from Okabe and Ito). The others need their marks.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	color.RGBA{0x1f, 0x51, 0x30, 0xff}, // green
	color.RGBA{0x8f, 0x45, 0xe0, 0xff}, // violet
	color.RGBA{0x8a, 0x6d, 0x00, 0xff}, // yellow
	color.RGBA{0x6b, 0x75, 0x80, 0xff}, // gray
}

// seriesColor returns the colour of a series; they repeat after the sixth, with other marks.
func seriesColor(i int) color.Color { return palette[i%len(palette)] }

// The colours of everything else.
var (
	gray  = color.RGBA{0x57, 0x60, 0x6a, 0xff}
	light = color.RGBA{0xe4, 0xe8, 0xec, 0xff}
)

// The measures of a sheet.
const (
	sheetWidth = 720 * vg.Length(1)
	margin     = 16 * vg.Length(1)
	lineHeight = 16 * vg.Length(1)
)

// fontSlack is the width of the widest fonts that browsers choose for "sans-serif" (DejaVu Sans,
// Verdana) relative to Liberation Sans, with which gonum measures. Texts are laid out larger by
// this factor and written in their own size.
const fontSlack = 1.17

var fontSize = regexp.MustCompile(`font-size:[0-9.]+px`)

// unslack returns a font size without the slack.
func unslack(size []byte) []byte {
	laidOut, _ := strconv.ParseFloat(string(size[len("font-size:"):len(size)-len("px")]), 64)
	return fmt.Appendf(nil, "font-size:%.4gpx", laidOut/fontSlack)
}

// sans returns a text style.
func sans(size vg.Length, bold bool, ink color.Color) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: fontSlack * size}
	if bold {
		f.Weight = 2 // x/image/font's WeightBold
	}
	return text.Style{Color: ink, Font: f, XAlign: draw.XLeft, YAlign: draw.YTop, Handler: plot.DefaultTextHandler}
}

// wrap breaks a text into lines no wider than width, unless a single word is.
func wrap(style text.Style, words string, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(words) {
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && style.Width(longer) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// sheet is a picture: a headline, a caption and a legend above a plot.
type sheet struct {
	title, caption string
	legend         []legendEntry
	plot           *plot.Plot // nil if there is no data
	height         vg.Length  // of the plot
}

type legendEntry struct {
	name string
	draw func(c draw.Canvas, at vg.Point)
}

// newPlot returns a plot with this package's fonts and without gonum's frame.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = gray, gray
		xAlign, yAlign := axis.Tick.Label.XAlign, axis.Tick.Label.YAlign
		axis.Tick.Label = sans(10, false, gray)
		axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = xAlign, yAlign
		label := sans(11, false, gray)
		label.XAlign, label.YAlign = axis.Label.TextStyle.XAlign, axis.Label.TextStyle.YAlign
		label.Rotation = axis.Label.TextStyle.Rotation
		axis.Label.TextStyle, axis.Label.Padding = label, 4
	}
	return p
}

// svg draws the sheet.
func (s sheet) svg() []byte {
	headline, small := sans(15, true, color.Black), sans(11, false, gray)
	titles := wrap(headline, s.title, 0.83*(sheetWidth-2*margin)) // bold is wider still
	captions := wrap(small, s.caption, sheetWidth-2*margin)
	legend := s.legendRows(small)
	if s.plot == nil {
		s.height = 60
	}
	height := 2*margin + vg.Length(len(titles))*20 + vg.Length(len(captions)+len(legend))*lineHeight + s.height
	canvas := vgsvg.New(sheetWidth, height)
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	y := c.Max.Y
	for _, line := range titles {
		c.FillText(headline, vg.Point{X: c.Min.X, Y: y}, line)
		y -= 20
	}
	for _, line := range captions {
		c.FillText(small, vg.Point{X: c.Min.X, Y: y}, line)
		y -= lineHeight
	}
	for _, row := range legend {
		x := c.Min.X
		for _, entry := range row {
			entry.draw(c, vg.Point{X: x + 8, Y: y - 8})
			c.FillText(small, vg.Point{X: x + 20, Y: y}, entry.name)
			x += 36 + small.Width(entry.name)
		}
		y -= lineHeight
	}
	if s.plot == nil {
		c.FillText(small, vg.Point{X: c.Min.X, Y: y - 8}, "There is nothing to show.")
	} else {
		s.plot.Draw(draw.Crop(c, 0, 0, 0, y-4-c.Max.Y))
	}
	var out bytes.Buffer
	_, _ = canvas.WriteTo(&out) // a buffer never fails
	return s.annotated(out.Bytes())
}

// legendRows splits the legend into rows that fit.
func (s sheet) legendRows(style text.Style) [][]legendEntry {
	var rows [][]legendEntry
	used := vg.Length(0)
	for _, entry := range s.legend {
		width := 36 + style.Width(entry.name)
		if rows == nil || used+width > sheetWidth-2*margin {
			rows, used = append(rows, nil), 0
		}
		used += width
		rows[len(rows)-1] = append(rows[len(rows)-1], entry)
	}
	return rows
}

// annotated adds what gonum omits: a title for screen readers, and substitutes for Liberation Sans.
func (s sheet) annotated(svg []byte) []byte {
	var words bytes.Buffer
	words.WriteString("<title>")
	_ = xml.EscapeText(&words, []byte(s.title))
	words.WriteString("</title>\n<g ")
	svg = bytes.Replace(svg, []byte("<g "), words.Bytes(), 1)
	svg = fontSize.ReplaceAllFunc(svg, unslack)
	return bytes.ReplaceAll(svg, []byte("Liberation Sans"), []byte("Liberation Sans,Arial,Helvetica,sans-serif"))
}

// extent returns minimum, maximum and smallest positive value. ok is false if there is no number.
func extent(values []float64) (low, high, positive float64, ok bool) {
	low, high, positive = math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		low, high = min(low, v), max(high, v)
		if v > 0 {
			positive = min(positive, v)
		}
	}
	return low, high, positive, low <= high
}

package plot

import (
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// What all pictures have in common, in pixels.
const (
	pictureWidth = 760.0
	margin       = 24.0
)

// canvas collects the elements of a picture from top to bottom.
type canvas struct {
	body  strings.Builder
	y     float64 // where the next thing may begin
	texts []textBox
}

// textBox is the room that a text takes, for the test that looks for texts on top of each other.
type textBox struct {
	text                     string
	left, top, right, bottom float64
}

// anchor is which end of a text its x is.
type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// font is how a text looks.
type font struct {
	size float64
	bold bool
	ink  ink
}

var (
	titleFont   = font{titleSize, true, black}
	captionFont = font{captionSize, false, gray}
	labelFont   = font{labelSize, false, black}
	tickFont    = font{tickSize, false, gray}
)

// text writes a line of text with its baseline at y.
func (c *canvas) text(x, y float64, at anchor, f font, text string) {
	if text == "" {
		return
	}
	weight := ""
	if f.bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(&c.body, `<text x="%s" y="%s" text-anchor="%s" font-size="%s"%s class="%s" fill="%s">%s</text>`+"\n",
		num(x), num(y), at, num(f.size), weight, f.ink.class, f.ink.light, escape(text))
	width := textWidth(text, f.size, f.bold)
	left := map[anchor]float64{start: x, middle: x - width/2, end: x - width}[at]
	c.texts = append(c.texts, textBox{text, left, y - 0.75*f.size, left + width, y + 0.22*f.size})
}

// line draws a straight line.
func (c *canvas) line(x1, y1, x2, y2, width float64, i ink, attributes string) {
	fmt.Fprintf(&c.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke-width="%s" class="%s-line" stroke="%s"%s/>`+"\n",
		num(x1), num(y1), num(x2), num(y2), num(width), i.class, i.light, attributes)
}

// rect fills a rectangle; what it stands for is shown by programs that show such things.
func (c *canvas) rect(x, y, width, height float64, i ink, what string) {
	fmt.Fprintf(&c.body, `<rect x="%s" y="%s" width="%s" height="%s" class="%s" fill="%s">%s</rect>`+"\n",
		num(x), num(y), num(width), num(height), i.class, i.light, tooltip(what))
}

// path draws a line through points.
func (c *canvas) path(points [][2]float64, i ink) {
	if len(points) < 2 {
		return
	}
	var d strings.Builder
	for n, p := range points {
		command := "L"
		if n == 0 {
			command = "M"
		}
		d.WriteString(command + num(p[0]) + " " + num(p[1]))
	}
	fmt.Fprintf(&c.body, `<path d="%s" fill="none" stroke-width="2" stroke-linejoin="round" class="%s-line" stroke="%s"/>`+"\n",
		d.String(), i.class, i.light)
}

// mark draws the mark of a series. The shapes differ, so that a picture printed in black can be read.
func (c *canvas) mark(x, y float64, series int, what string) {
	const r = 4.5
	i := seriesInk(series)
	var d string
	switch (series + series/len(palette)) % 5 {
	case 0: // a disc
		d = fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0z", num(x-r), num(y), num(r), num(r), num(2*r), num(r), num(r), num(-2*r))
	case 1: // a square
		d = fmt.Sprintf("M%s %sh%sv%sh%sz", num(x-4), num(y-4), "8", "8", "-8")
	case 2: // a triangle
		d = fmt.Sprintf("M%s %sL%s %sL%s %sz", num(x), num(y-5.5), num(x+5), num(y+3.5), num(x-5), num(y+3.5))
	case 3: // a diamond
		d = fmt.Sprintf("M%s %sL%s %sL%s %sL%s %sz", num(x), num(y-6), num(x+6), num(y), num(x), num(y+6), num(x-6), num(y))
	case 4: // a triangle on its tip
		d = fmt.Sprintf("M%s %sL%s %sL%s %sz", num(x), num(y+5.5), num(x+5), num(y-3.5), num(x-5), num(y-3.5))
	}
	fmt.Fprintf(&c.body, `<path d="%s" class="%s" fill="%s">%s</path>`+"\n", d, i.class, i.light, tooltip(what))
}

// heading writes the title and the caption.
func (c *canvas) heading(title, caption string) {
	c.y = margin
	for _, line := range wrap(title, titleSize, pictureWidth-2*margin, true) {
		c.y += titleSize
		c.text(margin, c.y, start, titleFont, line)
		c.y += titleSize * (lineHeight - 1)
	}
	for _, line := range wrap(caption, captionSize, pictureWidth-2*margin, false) {
		c.y += captionSize * lineHeight
		c.text(margin, c.y, start, captionFont, line)
	}
	c.y += 14
}

// nothing says that there is nothing to see.
func (c *canvas) nothing() {
	c.y += labelSize
	c.text(margin, c.y, start, captionFont, "No data.")
}

// document puts the frame around what was drawn.
func (c *canvas) document(title, description string) []byte {
	height := c.y + margin
	sum := fnv.New32a()
	sum.Write([]byte(title + "\x00" + description))
	id := strconv.FormatUint(uint64(sum.Sum32()), 36) // pictures on one page must not share identifiers
	var doc strings.Builder
	fmt.Fprintf(&doc, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="t%s d%s">`+"\n",
		num(pictureWidth), num(height), num(pictureWidth), num(height), id, id)
	fmt.Fprintf(&doc, "<title id=\"t%s\">%s</title>\n<desc id=\"d%s\">%s</desc>\n<style>%s</style>\n", id, escape(title), id, escape(description), style())
	fmt.Fprintf(&doc, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="8" class="%s %s-line" fill="%s" stroke="%s"/>`+"\n",
		num(pictureWidth-1), num(height-1), paper.class, frame.class, paper.light, frame.light)
	doc.WriteString(c.body.String())
	doc.WriteString("</svg>\n")
	return []byte(doc.String())
}

// num writes a length: to a tenth of a pixel, without zeros that say nothing.
func num(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

func escape(text string) string {
	var escaped strings.Builder
	// A strings.Builder takes everything; what XML has no characters for becomes U+FFFD.
	_ = xml.EscapeText(&escaped, []byte(text))
	return escaped.String()
}

func tooltip(what string) string {
	if what == "" {
		return ""
	}
	return "<title>" + escape(what) + "</title>"
}

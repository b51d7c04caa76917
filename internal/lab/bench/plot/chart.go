package plot

import "math"

// chart is what lines and percentiles have in common: two rulers, and curves between them.
type chart struct {
	x, y           ruler
	xTitle, yTitle string
	series         []Series
	// marked tells which points get a mark.
	marked func(Point) bool
	// describe says what a point is, for programs that show it.
	describe func(Point) string
}

// plotHeight is that of the field with the curves.
const plotHeight = 320.0

// draw puts the chart at c.y.
func (ch chart) draw(c *canvas) {
	if ch.yTitle != "" {
		c.y += captionSize
		c.text(margin, c.y, start, captionFont, ch.yTitle)
		c.y += 4
	}
	c.y += 10
	top, bottom := c.y, c.y+plotHeight
	ch.y.from, ch.y.to = bottom, top
	last := ch.x.labels[len(ch.x.labels)-1]
	ch.x.from, ch.x.to = margin+widest(ch.y.labels, tickSize)+10, pictureWidth-margin-max(10, textWidth(last, tickSize, false)/2)
	ch.x.thin(tickSize)

	ch.rows(c)
	c.columns(ch.x, top, bottom)
	c.line(ch.x.from, bottom, ch.x.to, bottom, 1.5, gray, "")
	c.line(ch.x.from, top, ch.x.from, bottom, 1.5, gray, "")
	for i, series := range ch.series {
		ch.curve(c, i, series)
	}
	c.below(ch.x, ch.xTitle, bottom)
}

// rows draws the grid lines and labels of the vertical ruler.
func (ch chart) rows(c *canvas) {
	for _, v := range ch.y.minor {
		c.line(ch.x.from, ch.y.at(v), ch.x.to, ch.y.at(v), 1, faint, "")
	}
	free := math.Inf(1)
	for i, v := range ch.y.ticks {
		y := ch.y.at(v)
		c.line(ch.x.from, y, ch.x.to, y, 1, grid, "")
		if y > free {
			continue // too close to the one below
		}
		c.text(ch.x.from-8, y+tickSize*0.36, end, tickFont, ch.y.labels[i])
		free = y - tickSize*1.2
	}
}

// curve draws one series: whiskers, the line, then the marks on top.
func (ch chart) curve(c *canvas, i int, series Series) {
	var points [][2]float64
	for _, p := range series.Points {
		if math.IsNaN(p.X) || math.IsNaN(p.Y.At) {
			continue
		}
		x := ch.x.at(p.X)
		points = append(points, [2]float64{x, ch.y.at(p.Y.At)})
		if p.Y.whisker() {
			low, high := ch.y.at(p.Y.Low), ch.y.at(p.Y.High)
			c.line(x, low, x, high, 1.5, seriesInk(i), "")
			c.line(x-4, low, x+4, low, 1.5, seriesInk(i), "")
			c.line(x-4, high, x+4, high, 1.5, seriesInk(i), "")
		}
	}
	c.path(points, seriesInk(i))
	for _, p := range series.Points {
		if !math.IsNaN(p.X) && !math.IsNaN(p.Y.At) && ch.marked(p) {
			c.mark(ch.x.at(p.X), ch.y.at(p.Y.At), i, series.Name+": "+ch.describe(p))
		}
	}
}

// legend names the curves.
func (ch chart) legend(c *canvas) {
	names := make([]string, len(ch.series))
	for i, series := range ch.series {
		names[i] = series.Name
	}
	c.legend(names, func(x, y float64, series int) {
		c.line(x-7, y, x+7, y, 2, seriesInk(series), "")
		c.mark(x, y, series, "")
	}, "", nil)
}

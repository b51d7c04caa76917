package plot

// legend writes the names of the series beside their marks, in as many rows as it takes. One series needs none. more is
// a further entry, drawn by drawMore.
func (c *canvas) legend(names []string, draw func(x, y float64, series int), more string, drawMore func(x, y float64)) {
	entries := len(names)
	if entries == 1 {
		entries = 0
	}
	if entries == 0 && more == "" {
		return
	}
	const mark, gap = 18.0, 22.0
	x := margin
	c.y += labelSize
	place := func(name string, draw func(x, y float64)) {
		width := mark + textWidth(name, labelSize, false)
		if x > margin && x+width > pictureWidth-margin {
			x = margin
			c.y += labelSize * 1.6
		}
		draw(x+6, c.y-labelSize*0.36)
		c.text(x+mark, c.y, start, labelFont, name)
		x += width + gap
	}
	for i := range entries {
		place(names[i], func(x, y float64) { draw(x, y, i) })
	}
	if more != "" {
		place(more, drawMore)
	}
	c.y += 16
}

package story

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Size is the size of a terminal in columns and lines.
type Size struct{ Width, Height int }

// The minimum size for the picture of all gears.
const (
	roomyWidth  = 76
	roomyHeight = 22
)

// Page draws the state as a page of exactly size.Height lines of at most size.Width columns. It is
// a pure function.
func Page(s State, size Size) []Line {
	p := page{s: s, size: size}
	if !s.Alone && size.Width >= roomyWidth && size.Height >= roomyHeight {
		p.roomy()
	} else {
		p.plain()
	}
	for i := range p.lines {
		p.lines[i] = p.lines[i].cut(size.Width)
	}
	for len(p.lines) < size.Height {
		p.lines = append(p.lines, nil)
	}
	return p.lines[:max(0, size.Height)]
}

// page is a page that is being drawn.
type page struct {
	s     State
	size  Size
	lines []Line
}

func (p *page) add(lines ...Line) { p.lines = append(p.lines, lines...) }

// roomy draws title, gears beside bars, narration and footer.
func (p *page) roomy() {
	p.title()
	p.intent()
	left, right := p.gears(), p.bars()
	rows := max(len(left), len(right))
	left = append(left, make([]Line, rows-len(left))...)
	right = append(right, make([]Line, rows-len(right))...)
	p.rule()
	for i := range rows {
		p.add(slices.Concat(left[i].pad(p.leftWidth()), inked(Faint, "│"), right[i]))
	}
	p.rule()
	footer := p.footer(2)
	p.narration(p.size.Height - len(p.lines) - len(footer) - 1)
	p.rule()
	p.add(footer...)
}

// leftWidth returns the width of the gears: what they need, and more on wide pages.
func (p *page) leftWidth() int { return min(46, max(38, p.size.Width/2-2)) }

// intent draws Happens and Look. If there is room for one only, it draws Happens before the
// deletion and Look after it.
func (p *page) intent() {
	room := max(0, p.size.Height/6-1)
	lines := wrap(p.s.Happens+" "+p.s.Look, p.size.Width-2)
	if len(lines) > room {
		text := p.s.Look
		if len(p.s.Stages) < 2 && p.s.Alone || !p.s.Alone && p.s.Namespace.Phase != "Terminating" && p.s.Namespace.Phase != Gone {
			text = p.s.Happens
		}
		lines = wrap(text, p.size.Width-2)
	}
	for _, text := range lines[:min(len(lines), room)] {
		p.add(inked(Faint, " "+text))
	}
}

// title is the first line: the scene and the clock.
func (p *page) title() {
	left := Line{{Strong, " lab demo"}, {Faint, " " + mark + " "}, {Bright, p.s.Scene}}
	clock := fmt.Sprintf("%.1f s ", p.s.Elapsed.Seconds())
	gap := p.size.Width - left.Width() - len(clock)
	if gap > 0 {
		left = append(left, Span{Plain, strings.Repeat(" ", gap)}, Span{Strong, clock})
	}
	p.add(left)
}

func (p *page) rule() { p.add(inked(Faint, strings.Repeat("─", p.size.Width))) }

// narration draws the last beats on exactly rows lines.
func (p *page) narration(rows int) {
	if rows <= 0 {
		return
	}
	var reported []Line
	for i := len(p.s.Beats) - 1; i >= 0 && len(reported) < rows; i-- {
		reported = append(BeatLines(p.s.Beats[i], p.size.Width), reported...)
	}
	reported = reported[max(0, len(reported)-rows):]
	for len(reported) < rows {
		reported = append(reported, nil)
	}
	p.add(reported...)
}

// footer draws the current stage and its remaining time.
func (p *page) footer(most int) []Line {
	lead := Line{{Strong, " " + mark + " "}}
	if left := p.s.Left(); left > 0 {
		lead = append(lead, Span{Warm, fmt.Sprintf("%.1f s ", left.Seconds())})
	}
	lines := hanging(lead, p.s.Now, lead.Width(), p.size.Width-1)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = append(lines[most-1], Span{Plain, " " + more})
	}
	for len(lines) < most {
		lines = append(lines, nil)
	}
	return lines
}

// seconds formats d in ms or s.
func seconds(d time.Duration) string {
	if d > 0 && d < tenth/2 {
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

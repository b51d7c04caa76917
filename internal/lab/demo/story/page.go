package story

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/internal/words"
)

// Size is the size of a terminal in columns and lines.
type Size struct{ Width, Height int }

// Page draws the state as a page of exactly size.Height lines of at most size.Width columns. It is
// a pure function.
func Page(s State, size Size) []Line {
	p := page{s: s, size: size}
	p.title()
	p.intent()
	p.rule()
	footer := p.footer()
	body := p.body()
	p.add(body[:min(len(body), max(0, size.Height-len(p.lines)-len(footer)-1))]...)
	p.rule()
	p.narration(size.Height - len(p.lines) - len(footer))
	p.add(footer...)
	for i := range p.lines {
		p.lines[i] = p.lines[i].cut(size.Width)
	}
	p.lines = append(p.lines, make([]Line, max(0, size.Height-len(p.lines)))...)
	return p.lines[:max(0, size.Height)]
}

// page is a page that is being drawn.
type page struct {
	s     State
	size  Size
	lines []Line
}

func (p *page) add(lines ...Line) { p.lines = append(p.lines, lines...) }

// title is the first line: the scene and the clock.
func (p *page) title() {
	left := Line{{Strong, " lab demo"}, {Faint, " " + mark + " "}, {Bright, p.s.Scene}}
	clock := fmt.Sprintf("%.1f s ", p.s.Elapsed.Seconds())
	if gap := p.size.Width - left.Width() - len(clock); gap > 0 {
		left = append(left, Span{Plain, strings.Repeat(" ", gap)}, Span{Strong, clock})
	}
	p.add(left)
}

// intent draws Happens and Look, or, if there is no room for both, Look.
func (p *page) intent() {
	room := max(0, p.size.Height/6-1)
	watch := p.s.Words.Look.In(p.s.Lang)
	lines := wrap(p.s.Words.Happens.In(p.s.Lang)+" "+watch, p.size.Width-2, p.size.Width-2)
	if len(lines) > room {
		lines = wrap(watch, p.size.Width-2, p.size.Width-2)
	}
	for _, text := range lines[:min(len(lines), room)] {
		p.add(inked(Faint, " "+text))
	}
}

func (p *page) rule() { p.add(inked(Faint, strings.Repeat("─", p.size.Width))) }

// narration draws the last beats on exactly rows lines.
func (p *page) narration(rows int) {
	var told []Line
	for i := len(p.s.Beats) - 1; i >= 0 && len(told) < rows; i-- {
		told = append(BeatLines(p.s.Beats[i], p.size.Width), told...)
	}
	told = append(told, make([]Line, max(0, rows-len(told)))...)
	p.add(told[len(told)-max(0, rows):]...)
}

// footer draws the current stage and its remaining time on two lines.
func (p *page) footer() []Line {
	lead := Line{{Strong, " " + mark + " "}}
	if left := p.s.Left(); left > 0 {
		lead = append(lead, Span{Warm, fmt.Sprintf("%.1f s ", left.Seconds())})
	}
	lines := append(hanging(lead, p.s.Now, lead.Width(), p.size.Width-1), nil, nil)
	if len(lines) > 4 {
		lines[1] = append(lines[1], Span{Plain, " " + more})
	}
	return lines[:2]
}

// body draws the panel of a scene on single gears, otherwise the gears beside bars.
func (p *page) body() (rows []Line) {
	if p.s.Alone {
		name := min(longest(p.s.Panel, Row.name), p.size.Width/3)
		for _, row := range p.s.Panel {
			head := inked(Strong, " "+row.Name).pad(name + 1)
			rows = append(rows, append(head, Span{Plain, "  " + row.Text}))
		}
		return rows
	}
	width := min(46, max(38, p.size.Width/2-2)) // of the gears: what they need, and more on wide pages
	left := p.gears()
	right := []Line{{{Strong, " " + p.namespaceText()}}}
	right = append(right, drawBars(slices.Concat(p.s.Types, p.s.Lines), min(p.size.Width-width-3, 90))...)
	for i := range max(len(left), len(right)) {
		row := Line{}
		if i < len(left) {
			row = left[i]
		}
		row = append(row.pad(width), Span{Faint, "│"})
		if i < len(right) {
			row = append(row, right[i]...)
		}
		rows = append(rows, row)
	}
	return rows
}

// gears draws the counters of each gear, from the server to the worker, and the conditions of the
// namespace, without their common prefix.
func (p *page) gears() []Line {
	g := p.s.Gears
	later := ""
	if g.Later > 0 {
		later = p.s.Say(", %d later", g.Later)
	}
	gear := func(name, figures string) Line {
		return Line{{Strong, fmt.Sprintf(" %-11s", name)}, {Plain, figures}}
	}
	marks := min(g.Workers, 10)
	busy := min(g.Busy, marks)
	workers := gear("Workers", "")
	workers = append(workers, Span{Warm, strings.Repeat("●", busy)}, Span{Faint, strings.Repeat("○", marks-busy)},
		Span{Plain, p.s.Say(" %d busy, pass %d", g.Busy, g.Passes)})
	conditions := inked(Faint, p.s.Say(" conditions with status True:"))
	if len(p.s.Namespace.Conditions) == 0 {
		conditions = append(conditions, Span{Faint, p.s.Say(" none")})
	}
	rows := []Line{
		gear("Reflectors", p.s.Say("%d lists, %d events", g.Lists, g.Events)),
		gear("DeltaFIFOs", p.s.Say("%d deltas, %d wait", g.Deltas, g.Depth)),
		gear("Indexers", p.s.Say("%d objects", g.Objects)),
		gear("Handlers", p.s.Say("%d calls", g.Calls)),
		gear("Queue", p.s.Say("%d added, %d ready%s", g.Adds, g.Ready, later)),
		workers,
		gear("Requests", p.s.Say("%d answered", g.Requests)),
		conditions,
	}
	for _, condition := range p.s.Namespace.Conditions {
		rows = append(rows, Line{{Warm, " ! " + strings.TrimPrefix(condition, "Namespace")}})
	}
	return append(rows, make([]Line, max(0, 11-len(rows)))...)
}

func (p *page) namespaceText() string {
	n := p.s.Namespace
	switch {
	case n.Phase == "":
		return p.s.Say("%s: does not exist yet", n.Name)
	case n.Phase == Gone:
		return p.s.Say("%s: gone", n.Name)
	}
	return n.Name + ": " + n.Phase
}

// longest is the width of the longest name.
func longest[T any](rows []T, name func(T) string) (width int) {
	for _, row := range rows {
		width = max(width, Columns(name(row)))
	}
	return width
}

func (t Type) name() string { return t.Name }
func (r Row) name() string  { return r.Name }

// parts returns rows for the gears that a scene on a bare stage follows.
func (s *State) parts() (rows []Row) {
	if len(s.Follow) == 0 || strings.HasPrefix(s.Follow[0], "restclient") {
		return nil
	}
	if !strings.HasPrefix(s.Follow[0], "queue") {
		for _, name := range slices.Sorted(maps.Keys(s.Run.Informers)) {
			rows = append(rows, s.informerRows(s.Run.Informers[name])...)
		}
		return rows
	}
	for _, name := range slices.Sorted(maps.Keys(s.Run.Queues)) {
		rows = append(rows, s.queueRows(s.Run.Queues[name])...)
	}
	return rows
}

// informerRows draw a queue of deltas, a letter for each, and what is behind it.
func (s *State) informerRows(i *trace.InformerState) []Row {
	var slots, handlers []string
	for _, slot := range i.FIFO.Waiting() {
		slots = append(slots, NameOf(slot.Key)+" "+slot.Deltas)
	}
	popped := ""
	if i.FIFO.InFlight != nil {
		popped = NameOf(i.FIFO.InFlight.Key) + " " + i.FIFO.InFlight.Deltas
	}
	var objects []string
	for _, key := range slices.Sorted(maps.Keys(i.Store.Objects)) {
		objects = append(objects, strings.TrimSpace(NameOf(key)+" "+i.Store.Objects[key]))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Handlers)) {
		h := i.Handlers[name]
		name, _, _ = strings.Cut(name, "#")
		handlers = append(handlers, fmt.Sprintf("%s %s", name, words.Count(h.Handled, "call")))
	}
	return []Row{
		{"reflector", i.Reflector.Phase}, {"slots", strings.Join(slots, ", ")}, {"popped", popped},
		{"store", strings.Join(objects, ", ")}, {"handlers", strings.Join(handlers, ", ")},
	}
}

// queueRows draw the sets of a work queue, its workers, and the delays that run down.
func (s *State) queueRows(q *trace.QueueState) []Row {
	waiting := names(q.Waiting())
	dirty, processing := slices.Clone(waiting), []string(nil)
	for _, key := range slices.Sorted(maps.Keys(q.Processing)) {
		processing = append(processing, NameOf(key))
		if q.Processing[key].Dirty {
			dirty = append(dirty, NameOf(key))
		}
	}
	workers := names(q.Slots())
	for i := range max(len(workers), s.Gears.Workers) {
		if i == len(workers) {
			workers = append(workers, "")
		}
		workers[i] = fmt.Sprintf("%d: %s", i+1, cmp.Or(workers[i], "idle"))
	}
	rows := []Row{
		{"dirty", strings.Join(dirty, "  ")}, {"queue", strings.Join(waiting, "  ")},
		{"processing", strings.Join(processing, "  ")}, {"workers", strings.Join(workers, "  ")},
		{"coalesced", fmt.Sprint(q.Coalesced)}, {"passes", fmt.Sprint(q.Done)},
	}
	const width = 24
	for _, key := range slices.Sorted(maps.Keys(q.Failures)) {
		delay := q.Delayed[key]
		left := max(0, s.since(delay.At+delay.Micros)-s.Elapsed)
		long := time.Duration(delay.Micros) * time.Microsecond
		rows = append(rows, Row{NameOf(key), fmt.Sprintf("%s %5.2f s of %-6s %s",
			Bar(int(left), int(long), width), left.Seconds(), Short(long), words.Count(q.Failures[key], "failure"))})
	}
	return rows
}

func names(keys []string) (names []string) {
	for _, key := range keys {
		names = append(names, NameOf(key))
	}
	return names
}

// NameOf returns a key without its namespace.
func NameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

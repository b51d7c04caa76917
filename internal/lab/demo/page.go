package demo

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
func Page(s State, size Size) []string {
	rule := strings.Repeat("─", size.Width)
	title, clock := " lab demo "+mark+" "+s.Scene, fmt.Sprintf("%.1f s ", s.Elapsed.Seconds())
	page := append([]string{pad(title, size.Width-len(clock)) + clock}, s.intent(size)...)
	page = append(page, rule)
	footer, body := s.footer(size.Width), s.body(size.Width)
	page = append(page, body[:min(len(body), max(0, size.Height-len(page)-len(footer)-1))]...)
	page = append(page, rule)
	page = append(page, s.narration(size.Height-len(page)-len(footer), size.Width)...)
	page = append(page, footer...)
	page = append(page, make([]string, max(0, size.Height-len(page)))...)[:max(0, size.Height)]
	for i, line := range page {
		page[i] = cut(line, size.Width)
	}
	return page
}

// intent draws Happens and Look, or, if there is no room for both, Look.
func (s *State) intent(size Size) (lines []string) {
	room, watch := max(0, size.Height/6-1), s.Words.Look.In(s.Lang)
	lines = hanging(" ", s.Words.Happens.In(s.Lang)+" "+watch, size.Width-1)
	if len(lines) > room {
		lines = hanging(" ", watch, size.Width-1)
	}
	return lines[:min(len(lines), room)]
}

// narration draws the last beats on exactly rows lines.
func (s *State) narration(rows, width int) (told []string) {
	rows = max(0, rows)
	for i := len(s.Beats) - 1; i >= 0 && len(told) < rows; i-- {
		told = append(BeatLines(s.Beats[i], width), told...)
	}
	told = append(told, make([]string, max(0, rows-len(told)))...)
	return told[len(told)-rows:]
}

// footer draws the current stage and its remaining time on two lines.
func (s *State) footer(width int) []string {
	lead := " " + mark + " "
	if left := s.Left(); left > 0 {
		lead += fmt.Sprintf("%.1f s ", left.Seconds())
	}
	lines := append(hanging(lead, s.Now, width-1), "", "")
	if len(lines) > 4 {
		lines[1] += " " + more
	}
	return lines[:2]
}

// body draws the panel of a scene on single gears, otherwise the gears beside bars.
func (s *State) body(width int) (rows []string) {
	if s.Alone {
		name := min(longest(s.Panel), width/3)
		for _, row := range s.Panel {
			rows = append(rows, " "+pad(row.Name, name)+"  "+row.Text)
		}
		return rows
	}
	half := min(46, max(38, width/2-2)) // of the gears: what they need, and more on wide pages
	left := s.gears()
	right := append([]string{" " + s.namespaceText()}, s.bars(min(width-half-3, 90))...)
	rows = make([]string, max(len(left), len(right)))
	for i := range rows {
		gear, bar := "", ""
		if i < len(left) {
			gear = left[i]
		}
		if i < len(right) {
			bar = right[i]
		}
		rows[i] = pad(gear, half) + "│" + bar
	}
	return rows
}

// bars draws a bar for each type, with its name and its number, in width columns.
func (s *State) bars(width int) (rows []string) {
	const shortest, number = 8, 5
	types, longest := slices.Concat(s.Types, s.Lines), 0
	for _, t := range types {
		longest = max(longest, Columns(t.Name))
	}
	name := min(longest, max(width*2/3, width-shortest-number-2))
	for _, t := range types {
		figure := fmt.Sprint(t.Left)
		if t.Left == 0 && t.Most > 0 {
			figure = "gone"
		}
		bar := Bar(t.Left, t.Most, max(1, width-name-number-2))
		rows = append(rows, fmt.Sprintf(" %s %s %*s", pad(t.Name, name), bar, number, figure))
	}
	return rows
}

// gears draws the counters of each gear, from the server to the worker, and the conditions of the
// namespace, without their common prefix.
func (s *State) gears() []string {
	g, later, none := s.Gears, "", ""
	if g.Later > 0 {
		later = s.Say(", %d later", g.Later)
	}
	if len(s.Namespace.Conditions) == 0 {
		none = s.Say(" none")
	}
	marks := min(g.Workers, 10)
	busy := min(g.Busy, marks)
	rows := []string{
		" Reflectors " + s.Say("%d lists, %d events", g.Lists, g.Events),
		" DeltaFIFOs " + s.Say("%d deltas, %d wait", g.Deltas, g.Depth),
		" Indexers   " + s.Say("%d objects", g.Objects),
		" Handlers   " + s.Say("%d calls", g.Calls),
		" Queue      " + s.Say("%d added, %d ready%s", g.Adds, g.Ready, later),
		" Workers    " + strings.Repeat("●", busy) + strings.Repeat("○", marks-busy) +
			s.Say(" %d busy, pass %d", g.Busy, g.Passes),
		" Requests   " + s.Say("%d answered", g.Requests),
		s.Say(" conditions with status True:") + none,
	}
	for _, condition := range s.Namespace.Conditions {
		rows = append(rows, " ! "+strings.TrimPrefix(condition, "Namespace"))
	}
	return append(rows, make([]string, max(0, 11-len(rows)))...)
}

func (s *State) namespaceText() string {
	n := s.Namespace
	switch {
	case n.Phase == "":
		return s.Say("%s: does not exist yet", n.Name)
	case n.Phase == Gone:
		return s.Say("%s: gone", n.Name)
	}
	return n.Name + ": " + n.Phase
}

// parts returns rows for the gear that a scene on a bare stage follows first.
func (s *State) parts() []Row {
	if len(s.Follow) == 0 {
		return nil
	}
	gear, _, _ := strings.Cut(s.Follow[0], ".")
	informer, queue := s.Run.Informers["configmaps"], s.Run.Queues["configmaps"]
	switch {
	case gear == "queue" && queue != nil:
		return s.queueRows(queue)
	case (gear == "deltafifo" || gear == "informer") && informer != nil:
		return s.informerRows(informer)
	}
	return nil
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

package story

import (
	"fmt"
	"strings"
	"time"
)

// Opening draws the introduction: what happens and what to watch.
func Opening(s State, width int) []Line {
	lines := []Line{{{Strong, "lab demo"}, {Plain, s.Say(", scene ")}, {Bright, s.Scene}}}
	lines = append(lines, paragraph("  ", s.Happens, width)...)
	lines = append(lines, paragraph("  ", s.Look, width)...)
	return append(lines, nil)
}

// Summary draws the time of each stage, and the counters of each gear. A scene on single gears has
// figures in place of the counters.
func Summary(s State, width int) []Line {
	lines := []Line{nil, inked(Strong, s.Say("Where the time went"))}
	lines = append(lines, stages(s, width)...)
	name, rows := "What went through the gears", counts
	if s.Alone {
		name, rows = "What was measured", figures
	}
	return append(append(lines, nil, inked(Strong, s.Say(name))), rows(s, width)...)
}

// Lesson is what was learnt in a scene.
type Lesson struct {
	// Learnt are sentences.
	Learnt []string
	// Read are files of the repository, each with the reason to read it.
	Read []Reading
}

// Reading is a file to read, with the reason.
type Reading struct{ File, Why string }

// Closing draws the lesson and what to read next.
func Closing(s State, l Lesson, width int) []Line {
	lines := []Line{nil, inked(Strong, s.Say("What was learnt"))}
	for _, text := range l.Learnt {
		lines = append(lines, paragraph("  - ", text, width)...)
	}
	lines = append(lines, nil, inked(Strong, s.Say("Read on")))
	longest := 0
	for _, r := range l.Read {
		longest = max(longest, len(r.File))
	}
	for _, r := range l.Read {
		head := fmt.Sprintf("  %-*s  ", longest, r.File)
		if width < longest+30 {
			head = "  " + r.File + ": "
		}
		lines = append(lines, paragraph(head, r.Why, width)...)
	}
	return lines
}

// paragraph wraps text behind head and indents the other lines.
func paragraph(head, text string, width int) []Line {
	indent := Columns(head)
	if indent > width/2 {
		indent = 4
	}
	return hanging(inked(Cool, head), text, indent, width)
}

// tenth is the unit of the times shown.
const tenth = 100 * time.Millisecond

func stages(s State, width int) []Line {
	const figure = 8
	altogether := s.Say("altogether")
	name := Columns(altogether)
	var longest, sum time.Duration
	for _, stage := range s.Stages {
		name = max(name, Columns(stage.Name))
		longest = max(longest, stage.Took)
		sum += stage.Took
	}
	name = min(name, max(10, width-figure-8))
	room := min(40, width-name-figure-6)
	var lines []Line
	for _, stage := range s.Stages {
		line := append(plain("  "), plain(stage.Name).pad(name)...)
		line = append(line, Span{Strong, fmt.Sprintf("%*s  ", figure, seconds(stage.Took))})
		if room > 4 && longest > 0 && stage.Took >= tenth/2 {
			line = append(line, Span{Cool, strings.Repeat(full, max(1, int(stage.Took*time.Duration(room)/longest)))})
		}
		lines = append(lines, line)
	}
	line := append(plain("  "), plain(altogether).pad(name)...)
	return append(lines, append(line, Span{Strong, fmt.Sprintf("%*s", figure, seconds(sum))}))
}

func counts(s State, width int) []Line {
	g := s.Gears
	reflectors := s.Say("%d list[s] and %d watch[s] opened; %d event[s] came", g.Lists, g.Watches, g.Events)
	if g.Expired > 0 {
		reflectors += s.Say("; the resourceVersion had expired %d times (410)", g.Expired)
	}
	fifos := s.Say("%d delta[s] in %d pop[s]; at most %d waiting key[s] in one of them", g.Deltas, g.Pops, g.MostDepth)
	if g.Tombstones > 0 {
		fifos += s.Say("; %d tombstone[s] for deletions that no watch reported", g.Tombstones)
	}
	queue := s.Say("%d addition[s]; %d coalesced, %d retried with back-off", g.Adds, g.Coalesced, g.Retries)
	workers := s.Say("%d pass[s]", g.Passes)
	if g.Retries > 0 {
		workers += s.Say(", %d of them failed", g.Retries)
	}
	if g.Conflicts > 0 {
		workers += s.Say("; %d conflict[s]", g.Conflicts)
	}
	var lines []Line
	for _, row := range [][2]string{
		{"reflectors", reflectors}, {"deltafifos", fifos}, {"handlers", s.Say("%d call[s]", g.Calls)},
		{"queue", queue}, {"workers", workers},
		{"requests", s.Say("%d answered, %d failed", g.Requests, g.Failed)},
	} {
		lines = append(lines, paragraph(fmt.Sprintf("  %-12s", row[0]), row[1], width)...)
	}
	return lines
}

// figures draws what a scene has measured.
func figures(s State, width int) []Line {
	name := longest(s.Figures, Row.name)
	var lines []Line
	for _, figure := range s.Figures {
		head := "  " + figure.Name + strings.Repeat(" ", name-Columns(figure.Name)+2)
		lines = append(lines, paragraph(head, figure.Text, width)...)
	}
	return lines
}

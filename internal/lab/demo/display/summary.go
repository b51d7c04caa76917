package display

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/internal/words"
)

// Opening draws the introduction: what happens and what to watch.
func Opening(s story.State, width int) []Line {
	lines := []Line{{{Strong, "lab demo"}, {Plain, ", scene "}, {Bright, s.Scene}}}
	lines = append(lines, paragraph("  ", s.Happens, width)...)
	lines = append(lines, paragraph("  ", s.Look, width)...)
	return append(lines, nil)
}

// Summary draws the time of each stage, the counters of each gear, and the requests. A scene on
// single gears has figures in place of the counters, and has requests only if it has a server.
func Summary(s story.State, width int, glyphs *Glyphs) []Line {
	lines := []Line{nil, inked(Strong, "Where the time went")}
	lines = append(lines, stages(s, width, glyphs)...)
	if s.Alone {
		if measured := figures(s, width); len(measured) > 0 {
			lines = append(append(lines, nil, inked(Strong, "What was measured")), measured...)
		}
		if len(s.Requests) == 0 {
			return lines
		}
	} else {
		lines = append(lines, nil, inked(Strong, "What went through the gears"))
		lines = append(lines, counts(s, width)...)
	}
	lines = append(lines, nil, inked(Strong, "Requests by verb"))
	lines = append(lines, requests(s, width)...)
	return lines
}

// Lesson is what was learnt in a scene.
type Lesson struct {
	// Learnt are sentences.
	Learnt []string
	// Read are files of the repository, each with the reason to read it.
	Read []Reading
}

// Reading is a file to read. Gear and Form say which form of which gear it is about; without them,
// it is about every form.
type Reading struct{ File, Why, Gear, Form string }

// Closing draws the lesson and what to read next.
func Closing(l Lesson, width int) []Line {
	lines := []Line{nil, inked(Strong, "What was learnt")}
	for _, text := range l.Learnt {
		lines = append(lines, paragraph("  - ", text, width)...)
	}
	lines = append(lines, nil, inked(Strong, "Read on"))
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
	indent := len([]rune(head))
	if indent > width/2 {
		indent = 4
	}
	var lines []Line
	for i, words := range wrapFrom(text, width-len([]rune(head)), width-indent) {
		if i == 0 {
			lines = append(lines, Line{{Cool, head}, {Plain, words}})
			continue
		}
		lines = append(lines, plain(strings.Repeat(" ", indent)+words))
	}
	return lines
}

// tenth is the unit of the times shown.
const tenth = 100 * time.Millisecond

func stages(s story.State, width int, glyphs *Glyphs) []Line {
	const figure = 8
	name := len("altogether")
	var longest, sum time.Duration
	for _, stage := range s.Stages {
		name = max(name, len([]rune(stage.Name)))
		longest = max(longest, stage.Took)
		sum += stage.Took
	}
	name = min(name, max(10, width-figure-8))
	room := min(40, width-name-figure-6)
	var lines []Line
	for _, stage := range s.Stages {
		line := append(plain("  "), plain(stage.Name).pad(name, glyphs)...)
		line = append(line, Span{Strong, fmt.Sprintf("%*s  ", figure, seconds(stage.Took))})
		if room > 4 && longest > 0 && stage.Took >= tenth/2 {
			line = append(line, Span{Cool, strings.Repeat(glyphs.Full, max(1, int(stage.Took*time.Duration(room)/longest)))})
		}
		lines = append(lines, line)
	}
	line := append(plain("  "), plain("altogether").pad(name, glyphs)...)
	return append(lines, append(line, Span{Strong, fmt.Sprintf("%*s", figure, seconds(sum))}))
}

func counts(s story.State, width int) []Line {
	g := s.Gears
	reflectors := fmt.Sprintf("%s and %s opened; %s came",
		words.Count(g.Lists, "list"), words.Count(g.Watches, "watch"), words.Count(g.Events, "event"))
	if g.Expired > 0 {
		reflectors += fmt.Sprintf("; the resourceVersion had expired %d times (410)", g.Expired)
	}
	fifos := fmt.Sprintf("%s in %s; at most %s in one of them",
		words.Count(g.Deltas, "delta"), words.Count(g.Pops, "pop"),
		words.Count(g.MostDepth, "waiting key"))
	if g.Tombstones > 0 {
		fifos += fmt.Sprintf("; %s for deletions that no watch reported", words.Count(g.Tombstones, "tombstone"))
	}
	queue := fmt.Sprintf("%s; %d coalesced, %d retried with back-off",
		words.Count(g.Adds, "addition"), g.Coalesced, g.Retries)
	workers := words.Count(g.Passes, "pass")
	if g.Retries > 0 {
		workers += fmt.Sprintf(", %d of them failed", g.Retries)
	}
	if g.Conflicts > 0 {
		workers += "; " + words.Count(g.Conflicts, "conflict")
	}
	var lines []Line
	for _, row := range [][2]string{
		{"reflectors", reflectors}, {"deltafifos", fifos}, {"handlers", words.Count(g.Calls, "call")},
		{"queue", queue}, {"workers", workers},
	} {
		lines = append(lines, paragraph(fmt.Sprintf("  %-12s", row[0]), row[1], width)...)
	}
	return lines
}

// requests draws the number of requests by client and verb, the verbs in the order of an object's
// life.
func requests(s story.State, width int) []Line {
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	var lines []Line
	for _, client := range []story.Client{story.Controller, story.Spectators, story.Script} {
		counted := maps.Clone(s.Requests[client])
		var parts []string
		for _, verb := range verbs {
			if n := counted[verb]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, verb))
			}
			delete(counted, verb)
		}
		for _, verb := range slices.Sorted(maps.Keys(counted)) {
			parts = append(parts, fmt.Sprintf("%d %s", counted[verb], verb))
		}
		if len(parts) > 0 {
			lines = append(lines, paragraph(fmt.Sprintf("  %-12s", client), strings.Join(parts, ", "), width)...)
		}
	}
	return lines
}

package display

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/demo/story"
)

// Opening draws what stands above the story: what is going to happen and what to look at.
func Opening(s story.State, width int) []Line {
	lines := []Line{{{Strong, "lab demo"}, {Plain, ", scene "}, {Bright, s.Scene}}}
	lines = append(lines, paragraph("  ", s.Happens, width)...)
	lines = append(lines, paragraph("  ", s.Look, width)...)
	return append(lines, nil)
}

// Summary draws what it took: the time of each stage, what went through each gear, and the requests.
func Summary(s story.State, width int, glyphs *Glyphs) []Line {
	lines := []Line{nil, inked(Strong, "Where the time went")}
	lines = append(lines, stages(s, width, glyphs)...)
	lines = append(lines, nil, inked(Strong, "What went through the gears"))
	lines = append(lines, counts(s, width)...)
	lines = append(lines, nil, inked(Strong, "Requests by verb"))
	lines = append(lines, requests(s, width)...)
	return lines
}

// Lesson is what was learnt in a scene.
type Lesson struct {
	// Learnt are sentences.
	Learnt []string
	// Read are files of the repository, with what is to be found in each.
	Read []Reading
}

// Reading is a file that is worth reading. Gear and Form are those that it is about; a file without them is about every form.
type Reading struct{ File, Why, Gear, Form string }

// Closing draws what was learnt and where to read on.
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

// paragraph wraps a text behind a head, under which further lines are indented.
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

// tenth is the unit in which times are shown.
const tenth = 100 * time.Millisecond

func stages(s story.State, width int, glyphs *Glyphs) []Line {
	const figure = 8
	name := 0
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
	reflectors := fmt.Sprintf("%s and %s opened; %s came", plural(g.Lists, "list", "lists"), plural(g.Watches, "watch", "watches"), plural(g.Events, "event", "events"))
	if g.Expired > 0 {
		reflectors += fmt.Sprintf("; %d times the position had expired (410)", g.Expired)
	}
	fifos := fmt.Sprintf("%s in %s; at most %s for one key and %s at a time",
		plural(g.Deltas, "delta", "deltas"), plural(g.Pops, "pop", "pops"), plural(g.MostDeltas, "delta", "deltas"), plural(g.MostDepth, "waiting key", "waiting keys"))
	if g.Tombstones > 0 {
		fifos += fmt.Sprintf("; %s for objects that vanished unseen", plural(g.Tombstones, "tombstone", "tombstones"))
	}
	queue := fmt.Sprintf("%s, %s, %s handed to workers; %d coalesced, %d retried with back-off",
		plural(g.Adds, "addition", "additions"), plural(g.Delays, "delay", "delays"), plural(g.Gets, "key", "keys"), g.Coalesced, g.Retries)
	workers := plural(g.Passes, "pass", "passes")
	if g.Failures > 0 {
		workers += fmt.Sprintf(", %d of them failed", g.Failures)
	}
	if g.Conflicts > 0 {
		workers += "; " + plural(g.Conflicts, "conflict", "conflicts")
	}
	var lines []Line
	for _, row := range [][2]string{
		{"reflectors", reflectors}, {"deltafifos", fifos}, {"handlers", plural(g.Calls, "call", "calls")}, {"queue", queue}, {"workers", workers},
	} {
		lines = append(lines, paragraph(fmt.Sprintf("  %-12s", row[0]), row[1], width)...)
	}
	return lines
}

// requests draws who sent how many requests of which verb. Verbs stand in the order in which an object meets them.
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

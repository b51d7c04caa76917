package story_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/demo/story"
)

// Each file is a story with pictures of it. "story" changes the state, line by line; "page",
// "opening", "summary" and "closing" draw.
func TestPictures(t *testing.T) {
	datadriven.Walk(t, "testdata/pictures", func(t *testing.T, path string) {
		state := story.State{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "story":
				for _, line := range strings.Split(d.Input, "\n") {
					apply(t, &state, line)
				}
				return ""
			case "page":
				size := story.Size{Width: number(t, d, "width"), Height: number(t, d, "height")}
				return framed(story.Page(state, size), size.Width)
			case "opening":
				return text(story.Opening(state, number(t, d, "width")))
			case "summary":
				return text(story.Summary(state, number(t, d, "width")))
			case "closing":
				lesson := story.Lesson{
					Learnt: strings.Split(d.Input, "\n"),
					Read: []story.Reading{{File: "nsctl/deleter.go", Why: "one pass over a namespace, top to bottom"},
						{File: "wait/until.go", Why: "how workers come back after a panic"}},
				}
				return text(story.Closing(state, lesson, number(t, d, "width")))
			}
			require.Fail(t, "unknown command", d.Cmd)
			return ""
		})
	})
}

func number(t *testing.T, d *datadriven.TestData, name string) (n int) {
	d.ScanArgs(t, name, &n)
	return n
}

// framed draws a frame around a page, so that its size can be seen.
func framed(lines []story.Line, width int) string {
	var b strings.Builder
	edge := "+" + strings.Repeat("-", width) + "+\n"
	b.WriteString(edge)
	for _, line := range lines {
		fmt.Fprintf(&b, "|%s%s|\n", line, strings.Repeat(" ", width-line.Width()))
	}
	b.WriteString(edge)
	return b.String()
}

func text(lines []story.Line) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("|" + line.String() + "\n")
	}
	return b.String()
}

// apply applies one line of a story to the state.
func apply(t *testing.T, s *story.State, line string) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	fields := strings.Fields(rest)
	switch word {
	case "scene":
		s.Scene = rest
	case "happens":
		s.Happens = rest
	case "look":
		s.Look = rest
	case "at":
		s.Elapsed = duration(t, rest)
	case "type":
		s.Types = append(s.Types, story.Type{Name: fields[0]})
	case "count":
		s.Count(fields[0], integer(t, fields[1]))
	case "line":
		name := strings.Join(fields[:len(fields)-1], " ")
		s.Line(name, integer(t, fields[len(fields)-1]))
	case "show", "figure":
		name, text, _ := strings.Cut(rest, ": ")
		s.Alone = true
		if word == "show" {
			s.Show(name, "%s", text)
		} else {
			s.Figure(name, "%s", text)
		}
	case "namespace":
		s.Namespace = story.Namespace{Name: fields[0], Phase: strings.Join(fields[1:], "")}
	case "condition":
		s.Namespace.Conditions = append(s.Namespace.Conditions, fields[0])
	case "gears":
		s.Gears = story.Gears{Lists: 11, Events: integer(t, fields[0]), Deltas: integer(t, fields[0]) + 12,
			Objects: integer(t, fields[1]), Calls: integer(t, fields[0]), Workers: 10, Passes: 2,
			Adds: 2, Requests: 33,
			Ready: integer(t, fields[2]), Busy: integer(t, fields[3]), Later: integer(t, fields[4])}
	case "tell":
		who, what, _ := strings.Cut(rest, " ")
		s.Tell(story.Who(who), "%s", what)
	case "enter":
		long, now, _ := strings.Cut(rest, " ")
		s.Enter(now, duration(t, long))
	case "end":
		s.End(rest)
	default:
		require.Fail(t, "no such line in a story", line)
	}
}

func integer(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// A page always has the size of the terminal, and nothing in it moves the cursor.
func TestPagesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := anyState().Draw(t, "state")
		size := story.Size{Width: rapid.IntRange(1, 220).Draw(t, "width"),
			Height: rapid.IntRange(1, 70).Draw(t, "height")}
		lines := story.Page(state, size)
		assert.Len(t, lines, size.Height)
		for _, line := range lines {
			assert.LessOrEqual(t, line.Width(), size.Width)
			assert.Equal(t, -1, strings.IndexFunc(line.String(), unicode.IsControl), "%q", line)
		}
	})
}

func anyState() *rapid.Generator[story.State] {
	return rapid.Custom(func(t *rapid.T) story.State {
		anyText := rapid.StringN(0, 200, 400)
		words := func(label string) string { return strings.ToValidUTF8(anyText.Draw(t, label), "?") }
		s := story.State{Scene: "delete", Happens: "Something happens.", Look: "Look at it."}
		s.Alone = rapid.Bool().Draw(t, "alone")
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			s.Show("row"+strconv.Itoa(i), "%s", words("row"))
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "types") {
			most := rapid.IntRange(0, 100_000).Draw(t, "most")
			s.Types = append(s.Types, story.Type{Name: "type" + strconv.Itoa(i), Most: most,
				Left: rapid.IntRange(0, most).Draw(t, "left")})
		}
		for range rapid.IntRange(0, 30).Draw(t, "beats") {
			s.Elapsed += time.Second
			who := rapid.SampledFrom([]story.Who{story.Demo, story.You, story.Server, story.Deleter})
			s.Tell(who.Draw(t, "who"), "%s", words("beat"))
		}
		s.Namespace = story.Namespace{Name: "shop",
			Phase: rapid.SampledFrom([]string{"", "Active", "Terminating", story.Gone}).Draw(t, "phase")}
		for range rapid.IntRange(0, 5).Draw(t, "conditions") {
			s.Namespace.Conditions = append(s.Namespace.Conditions, "NamespaceContentRemaining")
		}
		s.Gears.Workers = rapid.IntRange(0, 30).Draw(t, "workers")
		s.Gears.Busy = rapid.IntRange(0, 40).Draw(t, "busy")
		s.Enter(words("now"), time.Duration(rapid.IntRange(0, 10).Draw(t, "long"))*time.Second)
		return s
	})
}

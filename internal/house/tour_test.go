package house_test

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/words"
)

// tourStep is a function on the path of one event, as a document names it.
type tourStep struct{ file, name string }

// stepForm matches a line of a diagram in docs/learn/gears.md: a file, at its first mention its
// number of lines, and the function.
var stepForm = regexp.MustCompile(`([a-z][a-z0-9_/]*\.go) +(\d*) *([A-Za-z.]+)`)

// tourSlack is the error of a number of lines on the page.
const tourSlack = 20

// The sections of docs/learn/gears.md with the way of one event through each set of gears.
const (
	textbookWay = "## The way of one event"
	fastWay     = "## The same way, with the fast forms"
)

// sectionOf returns the text below a heading, up to the next one.
func sectionOf(text, heading string) string {
	_, section, _ := strings.Cut(text, heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// drawn returns the functions of a picture.
func drawn(t *testing.T, text string) (steps []tourStep) {
	for _, line := range parseMarkdown(text).blocks {
		parts := stepForm.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		steps = append(steps, tourStep{file: parts[1], name: parts[3]})
		if said, err := strconv.Atoi(parts[2]); err == nil {
			assert.InDelta(t, countLines(t, parts[1]), said, tourSlack, "the lines of %s", parts[1])
		}
	}
	return steps
}

// besideForm matches an entry of the list below the diagram: a page and its functions.
var besideForm = regexp.MustCompile(`^\[([^\]]+\.go)\]\([^)]+\):`)

// besideTheTour returns the functions in the list below the diagram of a section.
func besideTheTour(section string) (steps []tourStep) {
	for entry := range strings.SplitSeq(section, "\n- ") {
		entry, _, _ = strings.Cut(entry, "\n\n")
		if parts := besideForm.FindStringSubmatch(entry); parts != nil {
			for _, name := range parseMarkdown(entry).spans {
				steps = append(steps, tourStep{parts[1], name})
			}
		}
	}
	return steps
}

// The tour is executed: the documents name the functions that an event runs, in its order, for each
// set of gears, and all of the textbook's pages or all files of the fast forms.
func TestTheTourIsWhatAnEventRuns(t *testing.T) {
	learn := readDocument(t, "docs/learn/gears.md")
	textbook, fast := sectionOf(learn, textbookWay), sectionOf(learn, fastWay)
	textbookDrawn, fastDrawn := drawn(t, textbook), drawn(t, fast)
	require.GreaterOrEqual(t, len(fastDrawn), 15, "the picture was read")
	textbookSteps := append(slices.Clone(textbookDrawn), besideTheTour(textbook)...)
	fastSteps := append(slices.Clone(fastDrawn), besideTheTour(fast)...)
	recorded := recordOneEvent(t, append(fastSteps, textbookSteps...))
	for _, set := range []string{"textbook", "fast"} {
		reportEvent(t, set, recorded[set])
	}
	stops := stopsOfTheWorkshop(t)
	for page, c := range map[string]struct{ named, inOrder, recorded []tourStep }{
		"docs/learn/gears.md, textbook": {textbookSteps, textbookDrawn, recorded["textbook"]},
		"docs/learn/gears.md, fast":     {fastSteps, fastDrawn, recorded["fast"]},
		"workshop/tour.yaml":            {stops, stops, recorded["textbook"]},
	} {
		for _, step := range c.named {
			assert.Contains(t, c.recorded, step, "%s: no event runs it", page)
		}
		checkOrder(t, page, c.inOrder, c.recorded)
	}
	for _, page := range textbookPages {
		for _, step := range recorded["textbook"] {
			if step.file == page.file {
				assert.Contains(t, textbookSteps, step, "an event runs it, and the page does not name it")
			}
		}
		for _, file := range filesOf(recorded["fast"]) {
			if slices.Contains(page.fast, path.Dir(file)) {
				assert.Contains(t, filesOf(fastSteps), file, "an event passes it, and the page does not name it")
			}
		}
		if page.fast != nil && page.file != plainDecoder {
			assert.NotContains(t, filesOf(recorded["fast"]), page.file,
				"a page of the textbook runs with the fast gears")
		}
	}
}

// stopsOfTheWorkshop returns the functions of the reading tour, which says in both languages what
// to look for in each.
func stopsOfTheWorkshop(t *testing.T) (steps []tourStep) {
	var trip struct {
		Minutes int `yaml:"minutes"` // for each stop
		Stops   []struct {
			At       string     `yaml:"at"`
			Look     words.Text `yaml:"look"`
			Question words.Text `yaml:"question"`
		} `yaml:"stops"`
	}
	require.NoError(t, course.Read(root+"/workshop/tour.yaml", &trip))
	require.Len(t, trip.Stops, 15)
	require.Equal(t, 3, trip.Minutes)
	for _, stop := range trip.Stops {
		assert.True(t, stop.Look.Complete() && stop.Question.Complete(), "%s lacks a language", stop.At)
		file, name, _ := strings.Cut(stop.At, ": ")
		assert.NoError(t, declares(file, name))
		steps = append(steps, tourStep{file, name})
	}
	return steps
}

// plainDecoder decodes the watch of namespaces with either set of gears: the fast decoder is only
// for metadata.
const plainDecoder = "restclient/watch_decoder.go"

// callers wait in the function that a picture has below them when the event arrives.
var callers = []string{"controller.processLoop", "controller.processNext"}

// checkOrder fails for each function that an event reaches before the one above it.
func checkOrder(t *testing.T, page string, steps, recorded []tourStep) {
	last := -1
	for _, step := range steps {
		at := slices.Index(recorded, step)
		if at < 0 || slices.Contains(callers, step.name) {
			continue
		}
		assert.GreaterOrEqual(t, at, last, "%s: an event runs %v before the one above it", page, step)
		last = max(last, at)
	}
}

func filesOf(steps []tourStep) (files []string) {
	for _, step := range steps {
		if !slices.Contains(files, step.file) {
			files = append(files, step.file)
		}
	}
	return files
}

// otherSlack is how many files more than the limit a busy machine may have: it may open a second
// connection, or repeat a request.
const otherSlack = 4

// eventLimits are the most files and lines that one event passes with a set of gears. On a busy
// machine it may be otherSlack files more.
var eventLimits = map[string]struct{ files, lines int }{"textbook": {40, 7000}, "fast": {55, 10000}}

// reportEvent logs what one event passes, for "make event", and asserts that it is not more than
// the limits.
func reportEvent(t *testing.T, set string, steps []tourStep) {
	lines := 0
	files := filesOf(steps)
	for _, file := range files {
		n := countLines(t, file)
		lines += n
		t.Logf("%-9s %5d  %s", set, n, file)
	}
	t.Logf("%-9s from DELETE to finalize: %d files, %d lines, %d functions", set, len(files), lines, len(steps))
	assert.LessOrEqual(t, len(files), eventLimits[set].files+otherSlack, "files that one event passes, %s", set)
	assert.LessOrEqual(t, lines, eventLimits[set].lines+300*otherSlack, "lines that one event passes, %s", set)
}

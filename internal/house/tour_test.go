package house_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/glossary"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
)

// tourStep is a function on the path of one event, as a document names it.
type tourStep struct{ file, name string }

// tourForm matches a line of the diagram in docs/learn/gears.md: a file, at its first mention its
// number of lines, and the function.
var tourForm = regexp.MustCompile(`([a-z][a-z0-9_/]*\.go) +(\d*) +([A-Za-z.]+)`)

// The limits of the tour: the total length of its files, and the error of a figure on the page.
const (
	tourLines = 2600
	tourSlack = 20
)

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

var stepForm = regexp.MustCompile(`([a-z][a-z0-9_/]*\.go) +([A-Za-z.]+)`)

// pictureSteps returns the functions of a picture whose files have no number of lines.
func pictureSteps(text string) (steps []tourStep) {
	for _, line := range parseMarkdown(text).blocks {
		if parts := stepForm.FindStringSubmatch(line); parts != nil {
			steps = append(steps, tourStep{file: parts[1], name: parts[2]})
		}
	}
	return steps
}

// tourProblems returns what is wrong with the textbook's path of one event in the text, its files,
// and its functions.
func tourProblems(text string) (problems, files []string, steps []tourStep) {
	report := func(format string, arguments ...any) { problems = append(problems, fmt.Sprintf(format, arguments...)) }
	sum := 0
	for _, line := range parseMarkdown(sectionOf(text, textbookWay)).blocks {
		parts := tourForm.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		step := tourStep{file: parts[1], name: parts[3]}
		steps = append(steps, step)
		if err := declares(step.file, step.name); err != nil {
			report("%v", err)
		}
		if slices.Contains(files, step.file) {
			continue
		}
		files = append(files, step.file)
		said, _ := strconv.Atoi(parts[2])
		lines, err := countLines(step.file)
		switch {
		case err != nil:
			report("%v", err)
		case said < lines-tourSlack || said > lines+tourSlack:
			report("%s has %d lines, not %d", step.file, lines, said)
		}
		sum += lines
	}
	if sum >= tourLines {
		report("the tour has %d lines: it has to stay under %d", sum, tourLines)
	}
	return problems, files, steps
}

func TestTheTourIsShort(t *testing.T) {
	problems, files, _ := tourProblems(readDocument(t, "docs/learn/gears.md"))
	for _, problem := range problems {
		t.Error("docs/learn/gears.md: " + problem)
	}
	for _, page := range []string{
		"restclient/watch_decoder.go", "informer/reflector/reflector.go", "deltafifo/fifo.go", "indexer/store.go",
		"informer/handle_deltas.go", "informer/processor.go", "queue/delaying.go", "queue/queue.go", "nsctl/deleter.go",
	} {
		assert.Contains(t, files, page)
	}
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
// set of gears.
func TestTheTourIsWhatAnEventRuns(t *testing.T) {
	learn := readDocument(t, "docs/learn/gears.md")
	_, _, drawn := tourProblems(learn)
	textbookSteps := append(slices.Clone(drawn), besideTheTour(sectionOf(learn, textbookWay))...)
	fast := sectionOf(learn, fastWay)
	fastDrawn := pictureSteps(fast)
	require.GreaterOrEqual(t, len(fastDrawn), 15, "the picture was read")
	fastSteps := append(slices.Clone(fastDrawn), besideTheTour(fast)...)
	recorded := recordOneEvent(t, append(fastSteps, textbookSteps...))
	for _, set := range []string{"textbook", "fast"} {
		reportEvent(t, set, recorded[set])
	}

	for page, problems := range map[string][][]string{
		"docs/learn/gears.md, textbook": {
			unrecorded(textbookSteps, recorded["textbook"]), disordered(drawn, recorded["textbook"]),
			unnamed(textbookSteps, recorded["textbook"]),
		},
		"docs/learn/gears.md, fast": {
			unrecorded(fastSteps, recorded["fast"]), disordered(fastDrawn, recorded["fast"]),
			unnamedFiles(fastSteps, recorded["fast"]),
		},
		"workshop/tour.yaml": {
			unrecorded(stopsOfTheWorkshop(t), recorded["textbook"]), disordered(stopsOfTheWorkshop(t), recorded["textbook"]),
		},
	} {
		for _, problem := range slices.Concat(problems...) {
			t.Error(page + ": " + problem)
		}
	}
	for _, page := range textbookPages {
		if page.fast != nil && page.file != plainDecoder {
			assert.NotContains(t, filesOf(recorded["fast"]), page.file, "a page of the textbook runs with the fast gears")
		}
	}
}

// stopsOfTheWorkshop returns the functions of the reading tour, each of which has a comment and says
// in both languages what to look for.
func stopsOfTheWorkshop(t *testing.T) (steps []tourStep) {
	var trip struct {
		Minutes int `yaml:"minutes"` // for each stop
		Stops   []struct {
			At       string     `yaml:"at"`
			Look     texts.Text `yaml:"look"`
			Question texts.Text `yaml:"question"`
		} `yaml:"stops"`
	}
	require.NoError(t, manifest.Read(root+"/workshop/tour.yaml", &trip))
	require.Len(t, trip.Stops, 15)
	require.Equal(t, 3, trip.Minutes)
	for _, stop := range trip.Stops {
		assert.True(t, stop.Look.Complete() && stop.Question.Complete(), "%s lacks a language", stop.At)
		doc, err := glossary.Declared(root, stop.At)
		assert.NoError(t, err)
		assert.NotEmpty(t, doc, "%s has no comment", stop.At)
		file, name, _ := strings.Cut(stop.At, ": ")
		steps = append(steps, tourStep{file, name})
	}
	return steps
}

// plainDecoder decodes the watch of namespaces with either set of gears: the fast decoder is only
// for metadata.
const plainDecoder = "restclient/watch_decoder.go"

// unrecorded returns a problem for each named function that the event does not run.
func unrecorded(steps, recorded []tourStep) (problems []string) {
	for _, step := range steps {
		if !slices.Contains(recorded, step) {
			problems = append(problems, fmt.Sprintf("no event runs %s of %s", step.name, step.file))
		}
	}
	return problems
}

// callers wait in the function that a picture has below them when the event arrives.
var callers = []string{"controller.processLoop", "controller.processNext"}

// disordered returns a problem for each function that an event reaches before the one above it.
func disordered(steps, recorded []tourStep) (problems []string) {
	last := -1
	for _, step := range steps {
		at := slices.Index(recorded, step)
		if at < 0 || slices.Contains(callers, step.name) {
			continue
		}
		if at < last {
			problems = append(problems, fmt.Sprintf("an event runs %s of %s before %s", step.name, step.file, recorded[last].name))
		}
		last = max(last, at)
	}
	return problems
}

// unnamed returns a problem for each textbook function that the event runs and the document does
// not name.
func unnamed(steps, recorded []tourStep) (problems []string) {
	for _, step := range recorded {
		onPage := slices.ContainsFunc(textbookPages, func(page textbookPage) bool { return page.file == step.file })
		if onPage && !slices.Contains(steps, step) {
			problems = append(problems, fmt.Sprintf("an event runs %s of %s, which the page does not name", step.name, step.file))
		}
	}
	return problems
}

// unnamedFiles returns a problem for each file of a fast form that the event passes and the
// document does not name.
func unnamedFiles(steps, recorded []tourStep) (problems []string) {
	for _, file := range filesOf(recorded) {
		isFast := slices.ContainsFunc(textbookPages, func(page textbookPage) bool { return slices.Contains(page.fast, path.Dir(file)) })
		if isFast && !slices.Contains(filesOf(steps), file) {
			problems = append(problems, fmt.Sprintf("an event passes %s, which the page does not name", file))
		}
	}
	return problems
}

func filesOf(steps []tourStep) (files []string) {
	for _, step := range steps {
		if !slices.Contains(files, step.file) {
			files = append(files, step.file)
		}
	}
	return files
}

// reportEvent logs what one event passes, for "make event".
func reportEvent(t *testing.T, set string, steps []tourStep) {
	lines := 0
	files := filesOf(steps)
	for _, file := range files {
		n, err := countLines(file)
		require.NoError(t, err)
		lines += n
		t.Logf("%-9s %5d  %s", set, n, file)
	}
	t.Logf("%-9s from DELETE to finalize: %d files, %d lines, %d functions", set, len(files), lines, len(steps))
}

package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/tour"
)

// tourStep is a function on the path of one event, as a document names it.
type tourStep struct{ file, name string }

// tourForm matches a line of the diagram in docs/learn/gears.md: a file, at its first mention its
// number of lines, and the function.
var tourForm = regexp.MustCompile(`([a-z][a-z0-9_/]*\.go) +(\d*) +([A-Za-z.]+)`)

// The limits of the tour: the total length of its files, and the error of a figure on the page.
const (
	tourLines = 2500
	tourSlack = 20
)

// tourProblems returns what is wrong with the path of one event in the text, its files, and its
// functions.
func tourProblems(text string) (problems, files []string, steps []tourStep) {
	report := func(format string, arguments ...any) { problems = append(problems, fmt.Sprintf(format, arguments...)) }
	sum := 0
	for _, line := range parseMarkdown(text).blocks {
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

func TestBrokenToursAreFound(t *testing.T) {
	text := readDocument(t, "docs/learn/gears.md")
	for name, c := range map[string]struct{ old, replacement, want string }{
		"a name that is not declared": {"Reflector.watchHandler ", "Reflector.nonsense ", "informer/reflector/reflector.go does not declare Reflector.nonsense"},
		"a file that is missing":      {"nsctl/worker.go ", "nsctl/nonsense.go ", "nsctl/nonsense.go"},
		"a figure that is wrong":      {"nsctl/deleter.go                 ", "nsctl/deleter.go                 9", "nsctl/deleter.go has "},
		"too long":                    {"nsctl/worker.go ", "restclient/exchange.go 325 exchange.run\nrestclient/pool.go 270 pool\nnsctl/worker.go ", "it has to stay under 2500"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(text, c.old, c.replacement, 1)
			require.NotEqual(t, text, spoilt)
			problems, _, _ := tourProblems(spoilt)
			assert.Contains(t, strings.Join(problems, "\n"), c.want)
		})
	}
}

// besideForm matches an entry of the list below the diagram: a page and its functions.
var besideForm = regexp.MustCompile(`^\[([^\]]+\.go)\]\([^)]+\):`)

// besideTheTour returns the functions in the list below the diagram.
func besideTheTour(text string) (steps []tourStep) {
	_, section, _ := strings.Cut(text, "## The way of one event")
	section, _, _ = strings.Cut(section, "\n## ")
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

// The tour is executed: the documents name the functions that an event really runs. A program built
// with -cover records the functions between the deletion of a namespace and its finalization, for
// each set of gears.
func TestTheTourIsWhatAnEventRuns(t *testing.T) {
	learn, mechanisms := readDocument(t, "docs/learn/gears.md"), readDocument(t, "docs/learn/mechanisms.md")
	_, _, drawn := tourProblems(learn)
	textbookSteps := append(drawn, besideTheTour(learn)...)
	var fastSteps []tourStep
	for _, s := range pictureSteps(mechanisms) {
		fastSteps = append(fastSteps, tourStep(s))
	}
	recorded := recordOneEvent(t, append(fastSteps, textbookSteps...))

	for _, problem := range unrecorded(textbookSteps, recorded["textbook"]) {
		t.Error("docs/learn/gears.md: " + problem)
	}
	for _, problem := range unnamed(textbookSteps, recorded["textbook"]) {
		t.Error("docs/learn/gears.md: " + problem)
	}
	for _, problem := range unrecorded(stopsOfTheWorkshop(t), recorded["textbook"]) {
		t.Error("workshop/tour.yaml: " + problem)
	}
	for _, problem := range unrecorded(fastSteps, recorded["fast"]) {
		t.Error("docs/learn/mechanisms.md: " + problem)
	}
	for _, page := range textbookPages {
		if page.fast != nil && page.file != plainDecoder {
			assert.NotContains(t, filesOf(recorded["fast"]), page.file, "a page of the textbook runs with the fast gears")
		}
	}

	// The check finds each kind of defect.
	wrong := tourStep{"deltafifo/fifo.go", "DeltaFIFO.Replace"}
	assert.Equal(t, []string{"no event runs DeltaFIFO.Replace of deltafifo/fifo.go"}, unrecorded([]tourStep{wrong}, recorded["textbook"]))
	without := slices.DeleteFunc(slices.Clone(textbookSteps), func(s tourStep) bool { return s.name == "Queue.Get" })
	assert.Equal(t, []string{"an event runs Queue.Get of queue/queue.go, which the page does not name"}, unnamed(without, recorded["textbook"]))
}

// stopsOfTheWorkshop returns the functions of the reading tour.
func stopsOfTheWorkshop(t *testing.T) (steps []tourStep) {
	trip, err := tour.Load(root)
	require.NoError(t, err)
	require.NotEmpty(t, trip.Stops)
	for _, stop := range trip.Stops {
		file, name, _ := strings.Cut(stop.At, ": ")
		steps = append(steps, tourStep{file, name})
	}
	return steps
}

// plainDecoder decodes the watch of namespaces with either set of gears: the fast decoder is only
// for metadata.
const plainDecoder = "restclient/watch_decoder.go"

// unrecorded returns a problem for each named function that the event does not run.
func unrecorded(steps []tourStep, recorded map[tourStep]bool) (problems []string) {
	for _, step := range steps {
		if !recorded[step] {
			problems = append(problems, fmt.Sprintf("no event runs %s of %s", step.name, step.file))
		}
	}
	return problems
}

// unnamed returns a problem for each textbook function that the event runs and the document does
// not name.
func unnamed(steps []tourStep, recorded map[tourStep]bool) (problems []string) {
	for step := range recorded {
		onPage := slices.ContainsFunc(textbookPages, func(page textbookPage) bool { return page.file == step.file })
		if onPage && !slices.Contains(steps, step) {
			problems = append(problems, fmt.Sprintf("an event runs %s of %s, which the page does not name", step.name, step.file))
		}
	}
	slices.Sort(problems)
	return problems
}

func filesOf(recorded map[tourStep]bool) (files []string) {
	for step := range recorded {
		files = append(files, step.file)
	}
	return files
}

// recordOneEvent returns the functions that one event runs with each set of gears, in the packages
// of the steps and of the textbook's pages.
func recordOneEvent(t *testing.T, steps []tourStep) map[string]map[tourStep]bool {
	const program = "./internal/lab/integration/oneevent"
	packages := []string{program}
	for _, step := range steps {
		packages = append(packages, "./"+path.Dir(step.file))
	}
	for _, page := range textbookPages {
		packages = append(packages, "./"+path.Dir(page.file))
	}
	slices.Sort(packages)
	dir := t.TempDir()
	binary := filepath.Join(dir, "oneevent")
	run(t, nil, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(slices.Compact(packages), ","), "-o", binary, program)

	recorded := map[string]map[tourStep]bool{}
	for _, set := range []string{"textbook", "fast"} {
		whole, event, profile := filepath.Join(dir, set+"-whole"), filepath.Join(dir, set), filepath.Join(dir, set+".txt")
		require.NoError(t, os.Mkdir(whole, 0o700))
		require.NoError(t, os.Mkdir(event, 0o700))
		run(t, []string{"GOCOVERDIR=" + whole}, binary, set, event)
		run(t, nil, "go", "tool", "covdata", "textfmt", "-i="+event, "-o="+profile)
		text, err := os.ReadFile(profile)
		require.NoError(t, err)
		recorded[set] = functionsIn(t, string(text))
	}
	return recorded
}

// run runs a command in the root of the repository.
func run(t *testing.T, environment []string, name string, arguments ...string) {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Dir = root
	command.Env = append(os.Environ(), environment...)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// profileForm is a line of a coverage profile: the file, the first and last line and column of a
// block, its number of statements, and its count.
var profileForm = regexp.MustCompile(`(?m)^` + module + `/(\S+\.go):(\d+)\.\d+,\d+\.\d+ \d+ ([1-9]\d*)$`)

// functionsIn returns the functions with a block that ran, by a profile.
func functionsIn(t *testing.T, profile string) map[tourStep]bool {
	found := map[tourStep]bool{}
	functions := map[string][]functionLines{}
	for _, parts := range profileForm.FindAllStringSubmatch(profile, -1) {
		file := parts[1]
		if functions[file] == nil {
			functions[file] = linesOfFunctions(t, file)
		}
		line, err := strconv.Atoi(parts[2])
		require.NoError(t, err)
		for _, f := range functions[file] {
			if f.first <= line && line <= f.last {
				found[tourStep{file, f.name}] = true
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

// functionLines is the position of a function.
type functionLines struct {
	name        string
	first, last int
}

func linesOfFunctions(t *testing.T, file string) (functions []functionLines) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, filepath.Join(root, file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, declaration := range parsed.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			name := f.Name.Name
			if f.Recv != nil {
				name = typeName(f.Recv.List[0].Type) + "." + name
			}
			functions = append(functions, functionLines{name, fset.Position(f.Pos()).Line, fset.Position(f.End()).Line})
		}
	}
	return functions
}

package house_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The columns of the tables in docs/learn/mechanisms.md.
const (
	columnMechanism = iota
	columnSentence
	columnTextbook
	columnFast
	columnUpstream
	columnSince
	columnTest
)

var mechanismColumns = []string{
	"Mechanism", "What it does", "Textbook", "Fast", "Upstream", "Since the article, and where we differ", "The test that shows it",
}

// requiredMechanisms is what the articles describe, by the name that they use.
var requiredMechanisms = []string{
	// Controller Manager.
	"event handlers", "controller initialisers", "available resources", "SharedInformerFactory", "factory Start",
	"informer template", "sharedIndexInformer", "sharedIndexInformer.Run", "stop order", "sharedProcessor",
	"processorListener", "addListener", "distribute", "listener.run", "listener.pop", "addCh", "nextCh",
	"pendingNotifications", "DeltaFIFO", "queueActionLocked", "dedupDeltas", "willObjectBeDeletedLocked", "DeltaFIFO.Pop",
	"ErrRequeue", "addIfNotPresent", "initialPopulationCount", "ErrFIFOClosed", "controller", "processLoop", "Reflector",
	"list-watch", "resync", "HandleDeltas", "Indexer", "threadSafeMap", "Indexers", "Indices", "MutationDetector",
	// wait.
	"Ticker", "Timer", "Forever", "Until", "Poll", "PollUntil", "JitterUntil", "sliding", "jitterFactor", "Jitter",
	"stop before the next run", "crash handling", "resetOrReuseTimer",
	// Namespaces: the server's half.
	"Namespace", "phases", "deletionTimestamp", "finalizers at creation", "spec.finalizers", "admission while Terminating",
	"finalize operation", "final DELETE", "REST paths", "legacy watch paths", "metadata.finalizers", "cascading deletion",
	"finalizer pattern",
	// Namespaces: the controller and its deleter.
	"handlers", "work queue", "Run", "worker", "syncNamespaceFromKey", "ResourcesRemainingError", "Delete",
	"updateNamespaceStatus", "retryOnConflict", "finalized", "deleteAllContent", "FilteredBy", "GroupVersionResources",
	"deleteAllContentForGroupVersionResource", "deleteCollection", "deleteEachItem", "listCollection", "DynamicClient",
	"estimates", "conditions", "finalizeNamespace", "multi-party finalizers",
	// Namespaces: discovery.
	"DiscoveryInterface", "ServerGroups", "ServerResourcesForGroupVersion", "ServerGroupsAndResources",
	"ServerPreferredResources", "ServerPreferredNamespacedResources", "ServerVersion", "OpenAPISchema",
	// Namespaces: why one hangs.
	"pods that take their time", "admission denies a delete", "broken APIService", "emptying spec.finalizers by hand",
}

// upstreamModules are where the original's files are looked for, without their k8s.io/.
var upstreamModules = []string{"apimachinery", "apiserver", "client-go", "kube-aggregator", "kubernetes"}

// mechanism is one row.
type mechanism struct {
	line  int
	cells []string
}

// names are the articles' names for it.
func (m mechanism) names() []string {
	return strings.Split(strings.ReplaceAll(m.cells[columnMechanism], "`", ""), ", ")
}

// parseMechanisms reads the rows of all tables, and returns the defects of their form.
func parseMechanisms(text string) (rows []mechanism, problems []string) {
	for i, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		switch {
		case slices.Equal(cells, mechanismColumns) || strings.Trim(line, "|- ") == "":
		case len(cells) != len(mechanismColumns):
			problems = append(problems, fmt.Sprintf("line %d: %d columns, not %d", i+1, len(cells), len(mechanismColumns)))
		case slices.Contains(cells, ""):
			problems = append(problems, fmt.Sprintf("line %d: the column %q is empty", i+1, mechanismColumns[slices.Index(cells, "")]))
		default:
			rows = append(rows, mechanism{line: i + 1, cells: cells})
		}
	}
	return rows, problems
}

// mechanismProblems returns the defects of the document.
func mechanismProblems(text string) []string {
	rows, problems := parseMechanisms(text)
	rowOf := map[string]int{}
	for _, row := range rows {
		report := func(format string, arguments ...any) {
			problems = append(problems, fmt.Sprintf("line %d: ", row.line)+fmt.Sprintf(format, arguments...))
		}
		for _, name := range row.names() {
			if first, twice := rowOf[name]; twice {
				report("%s has a row already, in line %d", name, first)
			}
			rowOf[name] = row.line
		}
		checkReferences(row.cells[columnTextbook], declares, report)
		if row.cells[columnFast] != noFastForm {
			checkReferences(row.cells[columnFast], declares, report)
		}
		checkForms(row.cells[columnTextbook], row.cells[columnFast], report)
		checkReferences(row.cells[columnTest], shows, report)
		checkUpstream(row.cells[columnUpstream], report)
	}
	for _, step := range pictureSteps(text) {
		if err := declares(step.file, step.name); err != nil {
			problems = append(problems, fmt.Sprintf("the way of one event: %v", err))
		}
	}
	for _, name := range requiredMechanisms {
		if rowOf[name] == 0 {
			problems = append(problems, "there is no row for "+name)
		}
	}
	return problems
}

var stepForm = regexp.MustCompile(`([a-z][a-z0-9_/]*\.go) +([A-Za-z.]+)`)

// pictureSteps returns the functions of the picture.
func pictureSteps(text string) (steps []tourStep) {
	for _, line := range parseMarkdown(text).blocks {
		if parts := stepForm.FindStringSubmatch(line); parts != nil {
			steps = append(steps, tourStep{file: parts[1], name: parts[2]})
		}
	}
	return steps
}

// A reference is a file with names in it: [wait/until.go](../../wait/until.go): `Until`,
// `JitterUntil`.
var (
	referenceForm = regexp.MustCompile("^\\[([^\\]]+)\\]\\(\\.\\./\\.\\./([^)]+)\\): (`[^`]+`(?:, `[^`]+`)*)$")
	upstreamForm  = regexp.MustCompile("^`([a-z-]+)/[^`]+\\.go`: `[^`]+`(?:, `[^`]+`)*$")
)

// checkReferences calls check for every name in a cell.
func checkReferences(cell string, check func(file, name string) error, report func(string, ...any)) {
	for entry := range strings.SplitSeq(cell, "<br>") {
		parts := referenceForm.FindStringSubmatch(strings.TrimSpace(entry))
		switch {
		case parts == nil:
			report("%q is not of the form [file](../../file): `name`, `name`", entry)
			continue
		case parts[1] != parts[2]:
			report("the link says %s and leads to %s", parts[1], parts[2])
			continue
		}
		for name := range strings.SplitSeq(parts[3], ", ") {
			if err := check(parts[2], strings.Trim(name, "`")); err != nil {
				report("%v", err)
			}
		}
	}
}

// noFastForm is the cell of a mechanism that has only one form.
const noFastForm = "–"

// checkForms reports a file in the wrong column, and a textbook page whose other form is missing. A
// reader follows the first column from page to page, and the second through the default program.
func checkForms(textbook, fast string, report func(string, ...any)) {
	for _, file := range referencedFiles(textbook) {
		if isOtherForm(file) {
			report("%s is not the textbook form", file)
		}
		if fast == noFastForm && slices.ContainsFunc(textbookPages, func(page textbookPage) bool { return page.file == file && page.fast != nil }) {
			report("%s has another form, which the row does not name", file)
		}
	}
	for _, file := range referencedFiles(fast) {
		if !isOtherForm(file) {
			report("%s is not another form of a textbook page", file)
		}
	}
}

// isOtherForm reports whether the file is in a package with another form of a textbook page.
func isOtherForm(file string) bool {
	return slices.ContainsFunc(textbookPages, func(page textbookPage) bool { return slices.Contains(page.fast, path.Dir(file)) })
}

// referencedFiles returns the files that a cell names.
func referencedFiles(cell string) (files []string) {
	for entry := range strings.SplitSeq(cell, "<br>") {
		if parts := referenceForm.FindStringSubmatch(strings.TrimSpace(entry)); parts != nil {
			files = append(files, parts[1])
		}
	}
	return files
}

// checkUpstream checks only the form: not every machine has the original.
func checkUpstream(cell string, report func(string, ...any)) {
	for entry := range strings.SplitSeq(cell, "<br>") {
		parts := upstreamForm.FindStringSubmatch(strings.TrimSpace(entry))
		if parts == nil || !slices.Contains(upstreamModules, parts[1]) {
			report("%q is not of the form `module/path/file.go`: `name`", entry)
		}
	}
}

// declares reports whether the file declares the name: a function, type, constant or variable, or
// Type.member for a method, a field or a method of an interface.
func declares(file, name string) error {
	source, err := parseSource(file)
	if err != nil {
		return err
	}
	if !source.declared[name] {
		return fmt.Errorf("%s does not declare %s", file, name)
	}
	return nil
}

// shows reports whether the file has the test. TestX/a/b names a subtest, as for go test -run; its
// parts must occur in the package of the test or in the contract suite that it runs.
func shows(file, name string) error {
	name, parts, _ := strings.Cut(name, "/")
	if !strings.HasSuffix(file, "_test.go") {
		return fmt.Errorf("%s is not a file of tests", file)
	}
	if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Example") {
		return fmt.Errorf("%s is not the name of a test", name)
	}
	if err := declares(file, name); err != nil || parts == "" {
		return err
	}
	known, err := subtestsAround(file)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(parts, "/") {
		if !known[part] {
			return fmt.Errorf("%s: %s has no part %s", file, name, part)
		}
		if regexp.QuoteMeta(part) != part {
			return fmt.Errorf("%s: go test -run does not take %s as it is", file, part)
		}
	}
	return nil
}

// subtestsAround returns the possible names of subtests: the strings in the test's package and in
// the suites that it imports, as go test writes them, and the names of scenario files.
func subtestsAround(file string) (map[string]bool, error) {
	source, err := parseSource(file)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, dir := range append(source.suites(), path.Dir(file)) {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			relative, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			near, err := parseSource(filepath.ToSlash(relative))
			if err != nil {
				return nil, err
			}
			for name := range near.declared {
				if method, ok := strings.CutPrefix(name, "suite."); ok { // a suite whose tests are methods
					known[method] = true
				}
			}
			for _, text := range near.texts {
				for part := range strings.SplitSeq(text, "/") {
					known[strings.ReplaceAll(part, " ", "_")] = true
				}
			}
		}
	}
	scenarios := filepath.Join(root, path.Dir(file), "testdata")
	err = filepath.WalkDir(scenarios, func(file string, entry os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		known[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = true
		return err
	})
	return known, err
}

// docs/learn/mechanisms.md leads a learner from an article to the code and to the test that shows
// it, so every file and name in it must exist.
func TestMechanisms(t *testing.T) {
	text := readDocument(t, "docs/learn/mechanisms.md")
	for _, problem := range mechanismProblems(text) {
		t.Error("docs/learn/mechanisms.md: " + problem)
	}
	rows, _ := parseMechanisms(text)
	assert.GreaterOrEqual(t, len(rows), 60, "the tables were read")
	assert.GreaterOrEqual(t, len(pictureSteps(text)), 15, "the picture was read")
}

// Every kind of defect is found: each case breaks one row of the correct document.
func TestBrokenMechanismsAreFound(t *testing.T) {
	text := readDocument(t, "docs/learn/mechanisms.md")
	require.Empty(t, mechanismProblems(text))
	rows, _ := parseMechanisms(text)
	at := slices.IndexFunc(rows, func(row mechanism) bool { return slices.Contains(row.names(), "Until") })
	require.GreaterOrEqual(t, at, 0)
	lines := strings.Split(text, "\n")

	for name, c := range map[string]struct {
		column int
		cell   string
		want   []string
	}{
		"an empty cell":                {columnSince, "", []string{`the column "Since the article, and where we differ" is empty`, "there is no row for Until"}},
		"a column too many":            {columnSince, "a | b", []string{"8 columns, not 7", "there is no row for Until"}},
		"a name that is required":      {columnMechanism, "`Until2`", []string{"there is no row for Until"}},
		"a name that has a row":        {columnMechanism, "`Until`, `Forever`", []string{"Forever has a row already"}},
		"a file that is missing":       {columnTextbook, "[wait/x.go](../../wait/x.go): `Until`", []string{"wait/x.go"}},
		"a name that is not declared":  {columnTextbook, "[wait/until.go](../../wait/until.go): `Until`, `Nonsense`", []string{"wait/until.go does not declare Nonsense"}},
		"a method of another type":     {columnTextbook, "[wait/backoff.go](../../wait/backoff.go): `timer.Arm`, `timer.Nonsense`", []string{"does not declare timer.Nonsense"}},
		"a link elsewhere":             {columnTextbook, "[wait/until.go](../../wait/poll.go): `Until`", []string{"the link says wait/until.go and leads to wait/poll.go"}},
		"fast among the textbook":      {columnTextbook, "[queue/fast/queue.go](../../queue/fast/queue.go): `Queue`", []string{"queue/fast/queue.go is not the textbook form"}},
		"textbook among the fast":      {columnFast, "[wait/until.go](../../wait/until.go): `Until`", []string{"wait/until.go is not another form"}},
		"a page without its fast form": {columnTextbook, "[queue/queue.go](../../queue/queue.go): `Queue`", []string{"queue/queue.go has another form, which the row does not name"}},
		"fast, a name that is missing": {columnFast, "[queue/fast/queue.go](../../queue/fast/queue.go): `Nonsense`", []string{"queue/fast/queue.go does not declare Nonsense"}},
		"a file without a name":        {columnTextbook, "[wait/until.go](../../wait/until.go)", []string{"is not of the form"}},
		"a test that is missing":       {columnTest, "[wait/contract_test.go](../../wait/contract_test.go): `TestNonsense`", []string{"does not declare TestNonsense"}},
		"a function that is no test":   {columnTest, "[wait/until.go](../../wait/until.go): `Until`", []string{"wait/until.go is not a file of tests"}},
		"a helper that is no test":     {columnTest, "[wait/contract_test.go](../../wait/contract_test.go): `loops`", []string{"loops is not the name of a test"}},
		"a part that is missing":       {columnTest, "[wait/contract_test.go](../../wait/contract_test.go): `TestContract/Until/nonsense`", []string{"TestContract has no part nonsense"}},
		"a part that is a pattern":     {columnTest, "[indexer/contract_test.go](../../indexer/contract_test.go): `TestContract/values_without_objects_are_forgotten_(issue_84959)`", []string{"go test -run does not take"}},
		"a scenario that is missing":   {columnTest, "[deltafifo/fast/scenario_test.go](../../deltafifo/fast/scenario_test.go): `TestScenarios/shutdown`, `TestScenarios/nonsense`", []string{"TestScenarios has no part nonsense"}},
		"upstream without a file":      {columnUpstream, "`apimachinery/pkg/util/wait`: `Until`", []string{"is not of the form"}},
		"upstream in another module":   {columnUpstream, "`controller-runtime/pkg/cache/cache.go`: `Cache`", []string{"is not of the form"}},
		"upstream without a name":      {columnUpstream, "`apimachinery/pkg/util/wait/wait.go`", []string{"is not of the form"}},
		"several things in one cell":   {columnTextbook, "[wait/x.go](../../wait/x.go): `A`<br>[wait/until.go](../../wait/until.go): `B`", []string{"wait/x.go", "does not declare B"}},
		"nothing, as another spelling": {columnSentence, "Another sentence.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			cells := slices.Clone(rows[at].cells)
			cells[c.column] = c.cell
			spoilt := slices.Clone(lines)
			spoilt[rows[at].line-1] = "| " + strings.Join(cells, " | ") + " |"
			problems := mechanismProblems(strings.Join(spoilt, "\n"))
			require.Len(t, problems, len(c.want), "%q", problems)
			for i, want := range c.want {
				assert.Contains(t, problems[i], want)
			}
		})
	}
	t.Run("a step of the picture that is missing", func(t *testing.T) {
		spoilt := strings.Replace(text, "deltafifo/fast/pop.go                    DeltaFIFO.PopBatch", "deltafifo/fast/pop.go DeltaFIFO.Nonsense", 1)
		assert.Equal(t, []string{"the way of one event: deltafifo/fast/pop.go does not declare DeltaFIFO.Nonsense"}, mechanismProblems(spoilt))
	})
}

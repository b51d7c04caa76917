package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/why"
	"orrery/upstream/controlplane"
)

const besidePage = "docs/operate/why-beside-others.md"

// besideTool is a tool that looks at a namespace, or ours. A program that is not there is left out.
type besideTool struct {
	name    string
	program string // in bin/ or on the path
	version []string
	args    func(kubeconfig string) []string
}

// besideTools returns the tools, ours first. Each only reads, or shows what it would do.
func besideTools() []besideTool {
	return []besideTool{
		{oursFirst, "orrery", nil, func(kubeconfig string) []string {
			return []string{"why", causes.Namespace, "--kubeconfig", kubeconfig}
		}},
		{"kubectl describe ns", "kubectl", []string{"version", "--client", "-o", "json"}, func(kubeconfig string) []string {
			return []string{"--kubeconfig", kubeconfig, "describe", "namespace", causes.Namespace}
		}},
		{"knsk", "knsk.sh", nil, func(kubeconfig string) []string {
			return []string{"--no-color", "--kubeconfig", kubeconfig, "--dry-run", "--delete-all"}
		}},
		{"finalizer-doctor", "kubectl-finalizer_doctor", []string{"version"}, func(kubeconfig string) []string {
			return []string{"ns/" + causes.Namespace, "--kubeconfig", kubeconfig}
		}},
		{"get-all (ketall)", "kubectl-get_all", []string{"version"}, func(kubeconfig string) []string {
			return []string{"--kubeconfig", kubeconfig, "--namespace", causes.Namespace}
		}},
		{"kubectl-finalizers", "kubectl-finalizers", nil, func(kubeconfig string) []string {
			return []string{"--kubeconfig", kubeconfig, "--namespace", causes.Namespace}
		}},
	}
}

// find returns the path of the tool's program.
func (b besideTool) find() (path string, ok bool) {
	if path, err := controlplane.FindUp(filepath.Join("bin", b.program)); err == nil {
		return path, true
	}
	path, err := exec.LookPath(b.program)
	return path, err == nil
}

// The results of a tool in a situation.
const (
	named     = "yes"
	harmful   = "yes, ⚠"
	notNamed  = "–"
	oursFirst = "`orrery why`"
)

// harms are commands that the column "do not" of the report forbids in every situation in which a
// tool advises them: force deletion, all finalizers at once, and finalizing by hand.
var harms = regexp.MustCompile(`--grace-period=0|--force=true|"path": "/metadata/finalizers"|/finalize\b|"finalizers": *(null|\[\])|Do you want to remove the finalizers`)

// clues must be in the output as well if the culprit is the namespace itself, which every output
// names.
var clues = map[string]string{"C16": "example.com/audit", "C18": "example.com/x", "C20": "sweeper", "C29": "Active", "C30": "ingresses"}

// scores returns named, harmful or notNamed: whether an output names the culprit of a fixture, by
// its name and its type.
func scores(f causes.Fixture, output string) string {
	switch {
	case !names(f, output):
		return notNamed
	case harms.MatchString(output):
		return harmful
	}
	return named
}

func names(f causes.Fixture, output string) bool {
	if f.Culprit.Resource == "namespaces" {
		return strings.Contains(output, clues[f.ID])
	}
	kind, _, _ := strings.Cut(f.Culprit.Resource, ".")
	kind = strings.TrimSuffix(strings.TrimSuffix(kind, "ies"), "s") // also validatingadmissionpolicy
	name := strings.Trim(f.Culprit.Name, "*")
	if len(name) == 1 { // a word of every text
		return regexp.MustCompile(`(?i)` + kind + `s?[/ "]+` + name + `\b`).MatchString(output)
	}
	word := regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(name) + `($|[^\w-])`)
	return strings.Contains(strings.ToLower(output), kind) && (name == "" || word.MatchString(output))
}

// TestWhyBesideOthers sets up the situations of package causes on the server in memory, and lets
// "orrery why" and each tool that is there look at them. It takes minutes, so it runs with
// wholeMatrix; with E2E_RECORD=1 it writes the page. Otherwise it checks what the page says.
func TestWhyBesideOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(repositoryFile(t, "README.zh-CN.md")), besidePage)
	if !wholeMatrix {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		checkBeside(t, readBeside(t, string(text)))
		return
	}
	var tools []besideTool
	for _, tool := range besideTools() {
		if _, ok := tool.find(); ok {
			tools = append(tools, tool)
		}
	}
	var mu sync.Mutex
	results := map[string]map[string]string{} // by id and tool
	t.Run("situations", func(t *testing.T) {
		for _, f := range causes.Fixtures() {
			t.Run(f.ID, func(t *testing.T) {
				t.Parallel()
				row := besideRow(t, f, tools)
				mu.Lock()
				defer mu.Unlock()
				results[f.ID] = row
			})
		}
	})
	checkBeside(t, results)
	if recording {
		require.NoError(t, os.WriteFile(path, []byte(besideText(t, tools, results)), 0o644))
		return
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for id, row := range readBeside(t, string(text)) {
		for tool, was := range row {
			if is, ran := results[id][tool]; ran {
				assert.Equal(t, was, is, "%s of %s: write the page anew by E2E_MATRIX=whole E2E_RECORD=1", id, tool)
			}
		}
	}
}

// checkBeside checks that ours names each cause and is on no row behind another tool.
func checkBeside(t *testing.T, results map[string]map[string]string) {
	t.Helper()
	for _, f := range causes.Fixtures() {
		assert.Equal(t, named, results[f.ID][oursFirst], f.ID)
	}
	assert.Len(t, results, len(causes.Fixtures()))
}

// besideRow sets one situation up, waits until its cause can be proven, and then runs each tool once,
// all at the same time. If the situation has ended meanwhile (C27 lasts 40 s), that is done again, for
// all of them.
func besideRow(t *testing.T, f causes.Fixture, tools []besideTool) (row map[string]string) {
	t.Helper()
	kubeconfig, end := besideSituation(t, f)
	defer func() { end() }()
	proven := func() (bool, error) {
		report := diagnose(t, kubeconfig, causes.Namespace)
		if report.Verdict == why.Absent {
			end()
			kubeconfig, end = besideSituation(t, f)
		}
		if !slices.ContainsFunc(report.Findings, func(found why.Finding) bool {
			return found.ID == f.ID && found.Certainty == why.Proven && found.Culprit == f.Culprit
		}) {
			return false, errors.New(text(t, report))
		}
		return true, nil
	}
	eventually(t, f.ID+" is shown by all tools", nil, func() (bool, error) {
		if ok, err := proven(); !ok {
			return false, err
		}
		row = besideOutputs(t, f, tools, kubeconfig)
		if row[oursFirst] != notNamed {
			return true, nil
		}
		return false, errors.New("the situation has ended before all tools had looked at it")
	})
	return row
}

// besideOutputs runs each tool once and returns the results, by tool.
func besideOutputs(t *testing.T, f causes.Fixture, tools []besideTool, kubeconfig string) map[string]string {
	row := map[string]string{}
	var running sync.WaitGroup
	var mu sync.Mutex
	for _, tool := range tools {
		running.Go(func() {
			output := tool.run(t, kubeconfig)
			mu.Lock()
			defer mu.Unlock()
			row[tool.name] = scores(f, output)
			t.Logf("%s: %s\n%s", tool.name, row[tool.name], output)
		})
	}
	running.Wait()
	return row
}

// besideSituation sets a situation up by "lab break".
func besideSituation(t *testing.T, f causes.Fixture) (kubeconfig string, end func()) {
	t.Helper()
	logFile := filepath.Join(t.TempDir(), "lab.log")
	lab, err := controlplane.StartProcess(controlplane.ProcessConfig{
		Name: "lab", Path: repositoryFile(t, filepath.Join("bin", "lab")), Args: []string{"break", f.ID}, LogFile: logFile,
	})
	require.NoError(t, err)
	end = func() { lab.Stop(context.WithoutCancel(t.Context())) }
	exported := regexp.MustCompile(`export KUBECONFIG=(\S+)`)
	eventually(t, "the situation is set up", lab.Done(), func() (bool, error) {
		text, err := os.ReadFile(logFile)
		if match := exported.FindSubmatch(text); match != nil {
			kubeconfig = string(match[1])
		}
		return kubeconfig != "", err
	})
	return kubeconfig, end
}

// besideAtOnce bounds the tools that run at once: knsk starts dozens of processes.
var besideAtOnce = make(chan struct{}, 3)

// run returns what the tool prints. Its exit code says nothing: some exit with 1 if they find
// something.
func (b besideTool) run(t *testing.T, kubeconfig string) string {
	besideAtOnce <- struct{}{}
	defer func() { <-besideAtOnce }()
	path, _ := b.find()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout) // a tool that hangs names nothing
	defer cancel()
	command := exec.CommandContext(ctx, path, b.args(kubeconfig)...)
	kubectl := filepath.Dir(repositoryFile(t, filepath.Join("bin", "kubectl")))
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+kubectl+string(os.PathListSeparator)+os.Getenv("PATH"))
	command.WaitDelay = time.Second
	output, _ := command.CombinedOutput()
	return string(output)
}

// besideText returns the text of the page.
func besideText(t *testing.T, tools []besideTool, results map[string]map[string]string) string {
	t.Helper()
	legend, total := "", "**yes**"
	if strings.Contains(fmt.Sprint(results), harmful) {
		legend = `- **yes, ⚠**: it does, and the output has a command that loses data or leaves something behind in that situation: force
  deletion, all finalizers of an object at once, or finalizing by hand.
`
		total = "**yes, without ⚠**"
	}
	var page strings.Builder
	fmt.Fprintf(&page, `# `+"`orrery why`"+` beside other tools

`+"`TestWhyBesideOthers`"+` writes this page. It sets up each of the 30 situations of [stuck namespaces](stuck-namespaces.md)
on the server in memory (`+"`lab break C07`"+`). As soon as the cause can be proven, each tool runs once, `+"`orrery why`"+` among
them, in a mode that only reads. The same rule scores each output. A tool that was not installed is left out: this
page compares with `+"%s"+`.

- **yes**: the output names the object that the situation is about, by type and name: mostly the object to repair. If
  that is the namespace itself, the output also has the detail that matters; in C29, that it is Active.
%s- **–**: it does not name it.

The last row counts %s.

An output that names the object does not say that it is the cause: a list of everything that is left names it as well.
The test demands more of `+"`orrery why`"+`: it must also have proven the cause.

`, besideNames(tools), legend, total)
	var columns []string
	for _, tool := range tools {
		columns = append(columns, tool.name)
	}
	fmt.Fprintf(&page, "| id | what blocks | %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)+2))
	totals := map[string]int{}
	for _, cause := range why.Catalogue() {
		fmt.Fprintf(&page, "| %s | %s |", cause.ID, cause.Title)
		for _, column := range columns {
			fmt.Fprintf(&page, " %s |", results[cause.ID][column])
			if results[cause.ID][column] == named {
				totals[column]++
			}
		}
		fmt.Fprintln(&page)
	}
	fmt.Fprintf(&page, "| | %s |", total)
	for _, column := range columns {
		fmt.Fprintf(&page, " **%d** |", totals[column])
	}
	fmt.Fprint(&page, "\n\n## The tools\n\n")
	for _, tool := range tools {
		fmt.Fprintf(&page, "- %s: `%s %s`%s\n", tool.name, tool.program, strings.Join(tool.args("FILE"), " "), tool.said(t))
	}
	return page.String()
}

// besideNames lists the other tools.
func besideNames(tools []besideTool) string {
	var names []string
	for _, tool := range tools[1:] {
		names = append(names, tool.name)
	}
	switch len(names) {
	case 0:
		return "no other tool"
	case 1:
		return "one other tool, " + names[0]
	}
	return fmt.Sprintf("%d other tools: %s", len(names), strings.Join(names, ", "))
}

// said is the version of the tool, as it prints it.
func (b besideTool) said(t *testing.T) string {
	if b.version == nil {
		return ""
	}
	path, _ := b.find()
	output, err := exec.CommandContext(t.Context(), path, b.version...).Output()
	require.NoError(t, err)
	match := regexp.MustCompile(`v\d+\.\d+\.\d+`).Find(output)
	if match == nil {
		return ""
	}
	return ", " + string(match)
}

// readBeside reads the table of the page.
func readBeside(t *testing.T, page string) map[string]map[string]string {
	t.Helper()
	results := map[string]map[string]string{}
	var columns []string
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 3:
		case cells[0] == "id":
			columns = cells
		case strings.HasPrefix(cells[0], "C"):
			row := map[string]string{}
			for i, cell := range cells[2:] {
				row[columns[i+2]] = cell
			}
			results[cells[0]] = row
		}
	}
	return results
}

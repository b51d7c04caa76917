// Package course has the labs of the workshop, and what the learner makes of them.
//
// A lab is lab.yaml, mutants.yaml and predict.yaml in its folder below workshop/labs; see
// workshop/AUTHORS.md. A field that is misspelt is an error. A page of the reference becomes the
// page that a learner begins with: the bodies of some functions become a panic, doc comments stay,
// helpers and unused imports go. A page may be a YAML file: its functions are the keys of its
// mapping, and their bodies the values.
//
// The learner's [Folder], workshop/work, is a Go module of its own with a folder for each lab and
// the progress; git ignores it. An [Overlay] puts the learner's files into a build of the
// repository and maps the paths in Go's output back. A [TestBinary] runs step by step, each in a
// process of its own. [Play] is "lab run": it starts the API server in memory and the real
// controller with the learner's gear, or the program that the manifest names, plays the requests
// and faults of the manifest, and checks the outcome. The messages of the commands, in both
// languages, are part of the program, because some are needed where there is no repository.
package course

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orrery/internal/words"
)

// Lab is one lab.
type Lab struct {
	// ID has two digits.
	ID    string     `yaml:"id"`
	Title words.Text `yaml:"title"`
	// Article names the article that the lab belongs to.
	Article string `yaml:"article"`
	// Minutes is how long the lab takes a learner who works alone, and a room.
	Minutes int `yaml:"minutes"`
	// First is the lab's place among those that matter first, from 1; 0: it is not among them.
	First int `yaml:"first"`
	// Files are the pages that the learner writes, all in one package.
	Files []File `yaml:"files"`
	Tests Tests  `yaml:"tests"`
	Run   Run    `yaml:"run"`

	// Built is what a learner reads after a success: what the page is, who does it so, and what to
	// read in client-go.
	Built words.Text `yaml:"built"`
	Hints Hints      `yaml:"hints"`

	// Name is the name of the folder: id, hyphen, words.
	Name string `yaml:"-"`
	// Dir is the folder's path.
	Dir       string     `yaml:"-"`
	Mutants   []Mutant   `yaml:"-"`
	Questions []Question `yaml:"-"`
}

// File is a page of the reference.
type File struct {
	// Path is relative to the repository, with slashes.
	Path string `yaml:"path"`
	// Write are the functions whose bodies the learner writes: Function or Type.Method.
	Write []string `yaml:"write"`
	// Remove are helpers that the stub lacks.
	Remove []string `yaml:"remove"`
}

// Tests say how the learner's page is tested.
type Tests struct {
	// Files are the test files of the package that are kept. The others know private fields of the
	// reference.
	Files []string `yaml:"files"`
	// AtLeast is how many tests the steps run in all, subtests included. With fewer, one was deleted,
	// and a learner's mistake may pass.
	AtLeast int `yaml:"at_least"`
	// Steps run in order; the first that fails is the learner's next task.
	Steps []Step `yaml:"steps"`
}

// Step is a part of the tests.
type Step struct {
	Name string `yaml:"name"`
	// Run is a pattern of go test -run.
	Run string `yaml:"run"`
	// Functions are those that a failure of this step is about, the likeliest first.
	Functions []string `yaml:"functions"`
	// Limit is how long the step may take. Default: 10 s. A step with searches needs more on a busy
	// machine.
	Limit time.Duration `yaml:"limit"`
	// Flags are further flags of the tests, for example for a search that is shorter than in CI.
	Flags []string `yaml:"flags"`
}

// Run is what "lab run" does.
type Run struct {
	// Program is the main package that is built with the learner's pages. Default: cmd/orrery.
	// Another program is started by the script, with Args and the kubeconfig in its environment.
	Program string `yaml:"program"`
	// Gears is the value of --gears. Default: textbook.
	Gears string `yaml:"gears"`
	// Args are further arguments of "orrery run", or the first arguments of another program.
	Args []string `yaml:"args"`
	// Script are the requests and faults, and the outcome that is checked. [Action] has the
	// words.
	Script []Action `yaml:"script"`
	// Scene is the scene of "lab demo" that shows the gear.
	Scene string `yaml:"scene"`
	// Bench is the benchmark of "lab bench" that measures the gear. Empty: there is none.
	Bench string `yaml:"bench"`
}

// Package returns the main package that is built.
func (r Run) Package() string { return cmp.Or(r.Program, "cmd/orrery") }

// GearSet returns the value of --gears.
func (r Run) GearSet() string { return cmp.Or(r.Gears, textbook) }

const textbook = "textbook"

// laboratory is the program that has the pages of all labs.
const laboratory = "cmd/lab"

// Uses reports whether the run uses the page of a lab: its program and its gears have it.
func (r Run) Uses(lab *Lab) bool {
	if !lab.IsCode() || lab.Run.Package() != r.Package() && r.Package() != laboratory {
		return false
	}
	replaced := strings.Contains(r.GearSet(), lab.Package()+"=")
	return lab.Run.GearSet() == r.GearSet() || lab.Run.GearSet() == textbook && !replaced
}

// Hints are what "lab hint" prints.
type Hints struct {
	// Rungs are three: a question that points at the invariant; the structure or the call;
	// pseudo-code for the hard half.
	Rungs []words.Text `yaml:"rungs"`
	// State are hints for particular failures. They come before the rungs.
	State []StateHint `yaml:"state"`
}

// StateHint is a hint for one failure.
type StateHint struct {
	ID string `yaml:"id"`
	// Test is the full name of the first test that failed.
	Test string `yaml:"test"`
	// Output is a part of what that test printed. Empty matches everything.
	Output     string `yaml:"output"`
	words.Text `yaml:",inline"`
}

// Mutant is a planted wrong solution: the reference with edits. "lab verify" checks that the tests
// reject it.
type Mutant struct {
	ID    string `yaml:"id"`
	Edits []Edit `yaml:"edits"`
	// KilledBy is the full name of the first test that fails, in the order of the steps.
	KilledBy string `yaml:"killed_by"`
	// Hint is the id of the state-aware hint that "lab hint" prints first.
	Hint string `yaml:"hint"`
}

// Edit replaces a text, which must occur exactly once in the page.
type Edit struct {
	File    string `yaml:"file"`
	Find    string `yaml:"find"`
	Replace string `yaml:"replace"`
}

// Package returns the folder of the lab's package, relative to the repository.
func (l *Lab) Package() string { return path.Dir(l.Files[0].Path) }

// IsCode reports whether the pages are Go, and so a part of programs.
func (l *Lab) IsCode() bool { return len(l.Files) > 0 && path.Ext(l.Files[0].Path) == ".go" }

// Page returns the page with that path, or nil.
func (l *Lab) Page(file string) *File {
	if i := slices.IndexFunc(l.Files, func(f File) bool { return f.Path == file }); i >= 0 {
		return &l.Files[i]
	}
	return nil
}

// Readme returns the path of the lab's page in a language.
func (l *Lab) Readme(lang words.Lang) string {
	if lang == words.Chinese {
		return filepath.Join(l.Dir, "README.zh-CN.md")
	}
	return filepath.Join(l.Dir, "README.md")
}

// Question is a question of predict.yaml, which "lab quiz" asks.
type Question struct {
	ID string `yaml:"id"`
	// Script is what happens, a step a line, with what each yields. It is shown after the answer,
	// and the question is about its last line.
	Script     string `yaml:"script"`
	words.Text `yaml:",inline"`
	Choices    []Choice `yaml:"choices"`
	// Why explains the right choice in one sentence.
	Why words.Text `yaml:"why"`
}

// Choice is an answer that a learner may choose.
type Choice struct {
	// Is is the answer in a word or two, by which progress is kept.
	Is         string `yaml:"is"`
	words.Text `yaml:",inline"`
	// Belief is the belief behind a wrong choice. The right choice has none.
	Belief words.Text `yaml:"belief"`
}

// Right returns the right choice, or nil if not exactly one has no belief.
func (q *Question) Right() (right *Choice) {
	for i := range q.Choices {
		if q.Choices[i].Belief != (words.Text{}) {
			continue
		}
		if right != nil {
			return nil
		}
		right = &q.Choices[i]
	}
	return right
}

// Action is one action of the script of "lab run". At most one of the fields besides Say is set.
type Action struct {
	// Say is printed before the action.
	Say words.Text `yaml:"say"`
	// Fill creates namespaces with config maps and pods in them.
	Fill *Fill `yaml:"fill"`
	// Touch updates namespaces and pods.
	Touch *Touch `yaml:"touch"`
	// Delete deletes the namespaces whose names begin with this, one request after the other.
	Delete string `yaml:"delete"`
	// Fault injects a fault, in the words of "lab help faults".
	Fault string `yaml:"fault"`
	// End ends the fault with this text.
	End string `yaml:"end"`
	// Pause lets time pass.
	Pause time.Duration `yaml:"pause"`
	// Gone waits until no namespace is left whose name begins with Prefix.
	Gone *Gone `yaml:"gone"`
	// Metric waits until a metric of the controller is within limits.
	Metric *Metric `yaml:"metric"`

	// Start starts the program that the manifest names.
	Start *Start `yaml:"start"`
	// Killed waits until the program has ended as if it was killed, with exit code 137.
	Killed time.Duration `yaml:"killed"`
	// CreateMachine creates a VirtualMachine with this name, and its definition before the first.
	CreateMachine string `yaml:"create_machine"`
	// DeleteMachine deletes the VirtualMachine with this name.
	DeleteMachine string `yaml:"delete_machine"`
	// Machines waits until exactly these VirtualMachines and servers exist.
	Machines *Machines `yaml:"machines"`

	// Bench measures with a program that is the laboratory.
	Bench *Bench `yaml:"bench"`

	// Stuck sets up a namespace of lab 13, and ends the one before.
	Stuck *Stuck `yaml:"stuck"`
}

// Stuck describes a namespace of lab 13, with the seed of the learner's verdicts.
type Stuck struct {
	// Namespace is "first" or "second".
	Namespace string `yaml:"namespace"`
	// Within is how long "orrery why" may take to prove its causes, once the verdicts have passed.
	Within time.Duration `yaml:"within"`
}

// Start describes a start of the program.
type Start struct {
	// Args follow those of the lab. In both, $STATE is a folder that outlives the program.
	Args []string `yaml:"args"`
}

// Machines describes VirtualMachine objects and the servers of the driver in $STATE, both by
// the names of the objects.
type Machines struct {
	Objects []string      `yaml:"objects"`
	Servers []string      `yaml:"servers"`
	Within  time.Duration `yaml:"within"`
}

// Bench describes benchmarks that take turns.
type Bench struct {
	// Args follow those of the lab: the name of the benchmark, and its flags.
	Args    []string `yaml:"args"`
	Designs []string `yaml:"designs"`
	// AtLeast are the least latencies of every design, by p50, p90, p99 and max.
	AtLeast map[string]time.Duration `yaml:"at_least"`
}

// Fill describes new namespaces: prefix-0, prefix-1, and so on.
type Fill struct {
	Prefix     string `yaml:"prefix"`
	Namespaces int    `yaml:"namespaces"`
	// Objects is the number of config maps in each, and Pods that of pods.
	Objects int `yaml:"objects"`
	Pods    int `yaml:"pods"`
}

// Touch describes updates: each namespace with the prefix and each pod in it gets Times updates,
// with a pause of Every between two rounds.
type Touch struct {
	Prefix string        `yaml:"prefix"`
	Times  int           `yaml:"times"`
	Every  time.Duration `yaml:"every"`
}

// Gone describes namespaces that must disappear.
type Gone struct {
	Prefix string        `yaml:"prefix"`
	Within time.Duration `yaml:"within"`
}

// Metric describes a metric's value: the sum over all series whose text begins with Name.
type Metric struct {
	Name    string   `yaml:"name"`
	AtLeast *float64 `yaml:"at_least"`
	AtMost  *float64 `yaml:"at_most"`
	// Within is how long the value may take. Zero: it is read once.
	Within time.Duration `yaml:"within"`
}

// Holds reports whether a value is within the limits.
func (m Metric) Holds(value float64) bool {
	return (m.AtLeast == nil || value >= *m.AtLeast) && (m.AtMost == nil || value <= *m.AtMost)
}

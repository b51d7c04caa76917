// Package labtest has a small repository with one lab, for tests of the packages beside it.
package labtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
)

// Page is the path of the lab's page.
const Page = "gear/counter.go"

// Reference is the lab's page.
const Reference = `package gear

import "sync"

// Counter counts.
type Counter struct {
	mu sync.Mutex
	n  int
}

// Add adds n.
func (c *Counter) Add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n // the reference does it so
}

// Value returns the sum.
func (c *Counter) Value() int { return c.get() }

func (c *Counter) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
`

var files = map[string]string{
	"go.mod":      "module orrery\n\ngo 1.26.0\n",
	"go.sum":      "",
	course.Agents: "Rules for assistants.\n",
	Page:          Reference,
	"gear/other.go": "package gear\n\n// Twice adds n twice.\nfunc Twice(c *Counter, n int) int " +
		"{\n\tc.Add(n)\n\tc.Add(n)\n\treturn c.get()\n}\n",
	"gear/white_test.go": "package gear\n\nimport \"testing\"\n\nfunc TestPrivateField(t *testing.T) {\n\tif " +
		"(&Counter{}).n != 0 {\n\t\tt.Fail()\n\t}\n}\n",
	"gear/contract_test.go": `package gear_test

import (
	"testing"

	"orrery/gear"
)

func TestContract(t *testing.T) {
	t.Run("sum", func(t *testing.T) {
		var c gear.Counter
		c.Add(2)
		if c.Add(3); c.Value() != 5 {
			t.Errorf("the sum of 2 and 3 is %d, not 5", c.Value())
		}
	})
	t.Run("twice", func(t *testing.T) {
		if got := gear.Twice(&gear.Counter{}, 2); got != 4 {
			t.Errorf("twice 2 is %d, not 4", got)
		}
	})
}
`,
	"workshop/labs/04-counter/lab.yaml": `id: "04"
title: {en: Counter, zh-CN: 计数器}
article: counting
minutes: 20
first: 1
built: {en: You have built a counter., zh-CN: 你写出了一个计数器。}
files: [{path: gear/counter.go, write: [Counter.Add, Counter.Value], remove: []}]
tests:
  files: [contract_test.go]
  at_least: 4 # TestContract counts in both steps
  steps: [{name: sum, run: TestContract/sum, functions: [Counter.Value]}, {name: twice, run: TestContract/twice}]
hints:
  rungs: [{en: one, zh-CN: 一}, {en: two, zh-CN: 二}, {en: three, zh-CN: 三}]
  state:
    - {id: last-only, test: TestContract/sum, output: "the sum of 2 and 3 is 3", en: It keeps the last only., zh-CN: 只记住了最后一个。}
    - {id: wrong, test: TestContract/sum, en: Wrong., zh-CN: 不对。}
`,
	"workshop/labs/04-counter/mutants.yaml": `- id: last-only
  edits: [{file: gear/counter.go, find: "c.n += n", replace: "c.n = n"}]
  killed_by: TestContract/sum
  hint: last-only
- id: subtracts
  edits: [{file: gear/counter.go, find: "c.n += n", replace: "c.n -= n"}]
  killed_by: TestContract/sum
  hint: wrong
- id: zero
  edits: [{file: gear/counter.go, find: "return c.n\n", replace: "return 0 * c.n\n"}]
  killed_by: TestContract/sum
  hint: wrong
`,
	"workshop/labs/04-counter/predict.yaml": `- id: order
  en: Which key comes out first?
  zh-CN: 哪个先出来？
  script: |
    add a b
    get → a
  choices:
    - {is: b, en: The last., zh-CN: 后来的。, belief: {en: A queue is a stack., zh-CN: 队列就是栈。}}
    - {is: a, en: The first., zh-CN: 先来的。}
    - {is: Get blocks, en: None., zh-CN: 都不出来。, belief: {en: Keys wait., zh-CN: 键会等。}}
  why: {en: The queue is first in first out., zh-CN: 先进先出。}
- id: again
  en: How many keys wait?
  zh-CN: 还有几个键在等？
  script: |
    add a a
    passes → 1
  choices:
    - {is: "1", en: One., zh-CN: 一个。}
    - {is: "2", en: Two., zh-CN: 两个。, belief: {en: Each Add counts., zh-CN: 每次 Add 都算。}}
    - {is: "0", en: None., zh-CN: 没有。, belief: {en: Keys vanish., zh-CN: 键会消失。}}
  why: {en: A key waits once., zh-CN: 一个键只等一次。}
`,
	"cmd/orrery/main.go": "package main\n\nimport \"orrery/gear\"\n\n" +
		"func main() { println(gear.Twice(&gear.Counter{}, 1)) }\n",
}

// Repository writes the repository into a new folder, which ends with the test.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

// Lab returns the lab of the repository.
func Lab(t testing.TB, repository string) *course.Lab {
	t.Helper()
	labs, err := course.LoadAll(repository)
	require.NoError(t, err)
	require.Len(t, labs, 1)
	return labs[0]
}

// Write writes a file, also over one that can only be read.
func Write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	os.Remove(path)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// Replace replaces a text in a file, which must have it.
func Replace(t testing.TB, path, text, by string) {
	t.Helper()
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(before), text)
	Write(t, path, strings.Replace(string(before), text, by, 1))
}

// Track makes a folder a git repository that has all of its files.
func Track(t testing.TB, dir string) {
	t.Helper()
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}} {
		command := exec.Command("git", arguments...)
		command.Dir = dir
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
	}
}

package check

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
)

func TestASoundLabPasses(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	repository := labtest.Repository(t)
	var out strings.Builder
	ok, err := Verify(t.Context(), repository, []*course.Lab{labtest.Lab(t, repository)}, &out)
	require.NoError(t, err)
	assert.True(t, ok, out.String())
	assert.Equal(t, len(checks), strings.Count(out.String(), "✔"), out.String())

	broken := labtest.Lab(t, repository)
	broken.Tests.AtLeast++
	ok, err = Verify(t.Context(), repository, []*course.Lab{broken, labtest.Lab(t, repository)}, &out)
	require.NoError(t, err)
	assert.False(t, ok, "a broken lab is not forgotten after a sound one")
	assert.Contains(t, out.String(), "✘ reference passes")
}

// Each kind of sabotage is found by its check.
func TestSabotageIsFound(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	const dir = "workshop/labs/04-counter/"
	for _, c := range []struct{ check, file, find, replace, want string }{
		{"reference passes", "gear/contract_test.go", "!= 5", "!= 6", "the reference does not pass"},
		{"reference passes", dir + "lab.yaml", "at_least: 4", "at_least: 5",
			"the steps ran 4 tests, and at_least in lab.yaml is 5"},
		{"stub", "gear/contract_test.go", "TestContract(t *testing.T) {\n", "TestContract(t *testing.T) {\n\treturn\n",
			"the stub should fail because something is still to write"},
		{"planted wrong solutions", dir + "mutants.yaml", `replace: "c.n -= n"`, `replace: "c.n += n"`,
			"mutant subtracts should fail first at TestContract/sum: it passes"},
		{"planted wrong solutions", dir + "mutants.yaml", `replace: "c.n -= n"`, `replace: "c.n -= m"`,
			"mutant subtracts should fail first at TestContract/sum: it does not build"},
		// A finding can be repaired from its text: what the tests said, and what the hints look for.
		{"planted wrong solutions", dir + "lab.yaml", "the sum of 2 and 3 is 3", "the sum is 3",
			`mutant last-only should get the hint "last-only", not "wrong": assertion in the step sum:
  TestContract/sum
    the sum of 2 and 3 is 3, not 5
the hints for this test, and what each looks for:
  last-only: "the sum is 3"
  wrong: ""`},
		// The controller of the small repository ends at once.
		{"run", dir + "lab.yaml", "hints:", "run: {script: [{gone: {prefix: none, within: 1s}}]}\nhints:",
			"the run fails:\n"},
	} {
		repository := labtest.Repository(t)
		file := filepath.Join(repository, c.file)
		labtest.Replace(t, file, c.find, c.replace)
		problems := strings.Join(problemsOf(t, repository, c.check), "\n")
		assert.Contains(t, problems, c.want, c.check)
	}
}

// problemsOf makes one check.
func problemsOf(t *testing.T, repository, name string) []string {
	t.Helper()
	lab := labtest.Lab(t, repository)
	s := &subject{repository: repository, lab: lab, dir: t.TempDir()}
	for _, c := range checks {
		if c.name == name {
			problems, err := c.check(t.Context(), s)
			require.NoError(t, err)
			return problems
		}
	}
	require.Fail(t, "there is no check "+name)
	return nil
}

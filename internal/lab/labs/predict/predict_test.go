package predict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/lab/labs/manifest"
	"orrery/wait"
)

// The scripts of testdata/gears use every command.
func TestGears(t *testing.T) {
	used := map[string]bool{}
	datadriven.RunTest(t, "testdata/gears", func(t *testing.T, d *datadriven.TestData) string {
		computed, err := Run(t.Context(), &manifest.Question{Gear: d.Cmd, Script: d.Input})
		var out strings.Builder
		for _, line := range computed.Lines {
			name, _, _ := strings.Cut(line.Command, " ")
			used[name] = true
			if line.Yields != "" {
				fmt.Fprintf(&out, "%s → %s\n", line.Command, line.Yields)
			}
		}
		if err != nil {
			fmt.Fprintln(&out, "error:", err)
		}
		return out.String()
	})
	for gear, open := range gears {
		for usage := range open(t.Context()) {
			name, _, _ := strings.Cut(usage, " ")
			assert.True(t, used[name], "no script uses %s of %s", name, gear)
		}
	}
}

// A script leaves no goroutine behind that does not end.
func TestScriptsEndTheirGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t)
	for gear, script := range map[string]string{
		"queue":     "workers 3",
		"delays":    "add-after a 1h",
		"informer":  "blocked-handler h\nadditions 3\ncalls h",
		"reflector": "objects a\nupdate a\nrequests",
	} {
		_, _ = Run(t.Context(), &manifest.Question{Gear: gear, Script: script})
	}
}

// A script in which f panics puts the switch and the handlers of panics back.
func TestPanicsOfAScriptStayInIt(t *testing.T) {
	_, err := Run(t.Context(), &manifest.Question{Gear: "until", Script: "run panic\nrun stop\nloop"})
	require.NoError(t, err)
	assert.True(t, wait.ReallyCrash.Load())
}

func TestTheRightChoice(t *testing.T) {
	question := &manifest.Question{Choices: []manifest.Choice{{Is: "1"}, {Is: "2"}, {Is: "2"}}}
	assert.Equal(t, &question.Choices[0], Computed{Answer: "1"}.Right(question))
	assert.Nil(t, Computed{Answer: "2"}.Right(question), "two choices say it")
	assert.Nil(t, Computed{Answer: "3"}.Right(question), "no choice says it")
}

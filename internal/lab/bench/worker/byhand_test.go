package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alone runs the worker by hand.
func alone(t *testing.T, arguments string) (output string, err error) {
	t.Helper()
	command := ourselves(t)
	program := exec.Command(command.Path)
	program.Env = append(append(os.Environ(), command.Env...), argumentsVariable+"="+arguments)
	text, err := program.CombinedOutput()
	return string(text), err
}

func TestRunningAScenarioByHand(t *testing.T) {
	output, err := alone(t, "-effort quick -rounds 2 effort")
	require.NoError(t, err)
	once := "effort\n  n                    10\n  counted\n"
	assert.Equal(t, once+once, output)
}

func TestTheProfilesOfAScenario(t *testing.T) {
	cpu, mem := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "mem")
	_, err := alone(t, "-cpuprofile "+cpu+" -memprofile "+mem+" warm")
	require.NoError(t, err)
	for _, path := range []string{cpu, mem} {
		profile, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "\x1f\x8b", string(profile[:2]), "profiles are compressed")
	}
}

func TestMessagesOfAWorkerByHand(t *testing.T) {
	output, err := alone(t, "-list")
	require.NoError(t, err)
	assert.Contains(t, output, "warm\nfresh\n")

	output, err = alone(t, "-help")
	require.NoError(t, err, "asking for help is no error")
	assert.Contains(t, output, "SCENARIO...")

	for arguments, want := range map[string]string{
		"fails":                         "Error: fails: the work was not done: keys processed: got 9, want 10\n",
		"-effort great warm":            `Error: invalid value "great" for flag -effort: there is no effort "great": choose full or quick` + "\n",
		"-cpuprofile /nowhere/cpu warm": "Error: open /nowhere/cpu: no such file or directory\n",
	} {
		output, err := alone(t, arguments)
		assert.Error(t, err)
		assert.Contains(t, output, want)
	}
}

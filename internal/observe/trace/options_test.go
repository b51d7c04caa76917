package trace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// A recording takes the place of an older recording, and of nothing else.
func TestRecordSparesOtherFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.jsonl")
	options := trace.Options{File: name, Limit: 1}
	assert.NoError(t, options.Check(), "there is no file")
	for content, spared := range map[string]bool{
		"": false, `{"h":1,"schema":"orrery.trace/2"}` + "\n": false, "\x1f\x8b\x08": false,
		"hello": true, "{}": true, `{"host":1}`: true,
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		err := options.Check()
		if spared {
			assert.EqualError(t, err,
				"--record: the file "+name+" exists, and is not a recording: choose another name, or remove it")
		} else {
			assert.NoError(t, err, "%q", content)
		}
	}
	options.File = os.DevNull
	assert.NoError(t, options.Check())
}

// A recording has the names of objects: only its owner can read it, whatever was there before.
func TestARecordingIsItsOwnersAlone(t *testing.T) {
	for _, before := range []os.FileMode{0, 0o644} {
		name := filepath.Join(t.TempDir(), "run.jsonl")
		options := trace.Options{File: name, Limit: 1}
		if before != 0 {
			require.NoError(t, os.WriteFile(name, nil, before))
			require.NoError(t, os.Chmod(name, before))
		}
		recorder, err := trace.Start(options.Config(trace.Header{Run: "test"}))
		require.NoError(t, err)
		recorder.Stop("over")
		require.NoError(t, options.Check(), "another run may follow")
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

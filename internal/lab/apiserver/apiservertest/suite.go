package apiservertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Run plays every script and compares the answers with those recorded. newTarget is called once for each script, with
// its test, and returns a server on which nothing has happened yet that the script could notice. gaps are the cases
// that must differ: [Gaps] for this project's server, none for kube-apiserver itself.
func Run(t *testing.T, newTarget func(t *testing.T) Target, gaps []Gap) {
	scripts, err := Scripts()
	require.NoError(t, err)
	reasons := gapsByCase(t, scripts, gaps)
	for _, script := range scripts {
		t.Run(script.Theme, func(t *testing.T) {
			recording, err := RecordingOf(script)
			require.NoError(t, err)
			player := NewPlayer(newTarget(t))
			for _, c := range script.Cases {
				t.Run(c.Title, func(t *testing.T) {
					check(t, player, c, recording.Answers[c.Title], reasons[[2]string{script.Theme, c.Title}])
				})
			}
		})
	}
}

// check plays a case. With a reason, which is that of a gap, the answer must differ.
func check(t *testing.T, player *Player, c *Case, recorded *Answer, reason string) {
	answer, err := player.Play(t.Context(), c)
	if err != nil {
		if reason == "" {
			assert.NoError(t, err)
		}
		return
	}
	want, got := recorded.String(), answer.String()
	if reason != "" {
		assert.NotEqual(t, want, got, "the gap has closed: take it off the list (%s)", reason)
		return
	}
	assert.Equal(t, want, got, "%s %s", c.Method, c.Path)
}

// gapsByCase returns the reasons by theme and title. A gap of no case, without a reason, or listed twice fails the test.
func gapsByCase(t *testing.T, scripts []*Script, gaps []Gap) map[[2]string]string {
	cases := map[[2]string]bool{}
	for _, script := range scripts {
		for _, c := range script.Cases {
			cases[[2]string{script.Theme, c.Title}] = true
		}
	}
	reasons := map[[2]string]string{}
	for _, gap := range gaps {
		key := [2]string{gap.Theme, gap.Title}
		assert.True(t, cases[key], "the gap %s: %s belongs to no case", gap.Theme, gap.Title)
		assert.NotEmpty(t, gap.Reason, "the gap %s: %s", gap.Theme, gap.Title)
		assert.Empty(t, reasons[key], "the gap %s: %s is listed twice", gap.Theme, gap.Title)
		reasons[key] = gap.Reason
	}
	return reasons
}

package apiservertest

import (
	"net/http"
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

// Gap is a case in which this project's server deliberately answers otherwise than kube-apiserver.
type Gap struct {
	Theme, Title string
	// Reason says why. docs/apiserver.md has the same sentence.
	Reason string
}

const (
	onlyText = "Answers are JSON or YAML, never protobuf: every client that asks for protobuf can fall back, and a learner can read the conversation."
	ownWords = "The refusal shows the schema as it was written, kube-apiserver the Go struct that it has become."
	noApply  = "Server-side apply is not built: it needs the owner of every field. It is refused with 415 before anything else about it is checked, and kubectl apply without --server-side does not use it."
)

// Gaps are all of them. A test holds this list and the section "Deliberate gaps" of docs/apiserver.md together.
func Gaps() []Gap {
	return []Gap{
		{Theme: "forms", Title: "An unknown form alone", Reason: onlyText},
		{Theme: "forms", Title: "Any application will not do", Reason: onlyText},
		{Theme: "forms", Title: "Text cannot be had", Reason: onlyText},
		{Theme: "forms", Title: "An object as HTML cannot be had", Reason: onlyText},
		{Theme: "forms", Title: "Protobuf or JSON", Reason: onlyText},
		{Theme: "forms", Title: "Protobuf alone", Reason: onlyText},
		{Theme: "patch", Title: "Server-side apply", Reason: noApply},
		{Theme: "patch", Title: "Server-side apply needs a manager", Reason: noApply},
		{Theme: "schemas", Title: "Refused: fields at the root beside a status", Reason: ownWords},
	}
}

// Target is a server to have conversations with.
type Target struct {
	// URL is where it listens, without a slash at the end.
	URL string
	// Transport sends requests of a user who may do everything (in Kubernetes' terms: of the group system:masters).
	Transport http.RoundTripper
	// Anonymous sends requests as they are, without credentials.
	Anonymous http.RoundTripper
}

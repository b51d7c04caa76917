// Package apiservertest has recorded conversations with a genuine kube-apiserver, and a suite that
// replays them with another server and compares the answers.
//
// A script is a text file in testdata with cases, each a title and a request:
//
//	=== An update that has seen an older version is refused
//	PUT /api/v1/namespaces/crud/configmaps/settings
//
//	{"metadata":{"name":"settings","resourceVersion":"${old}"},"data":{"colour":"green"}}
//
//	=== A read shows what the first update has left
//	GET /api/v1/namespaces/crud/configmaps/settings
//	keep uid = metadata.uid
//
// The recording beside it has kube-apiserver's answer under the same title; "make -C upstream
// record" renews it. Values that differ from run to run are masked in both: a UID is <uid>, a
// version <version>, a time <time>, unless the script has kept it as a variable. ${pad:5} stands
// for xxxxx. These lines may stand between the request and its body:
//
//	Header: value            a header; the body is JSON unless Content-Type says otherwise
//	keep name = path         sets a variable to a value of the answer, such as items.0.metadata.name
//	until 404                repeats the request until this status
//	until status.phase = X   repeats the request until the answer has this value
//	events 3                 reads that many events of a stream, or fewer if it ends
//	as anonymous             sends no credentials
//	without body             records only the status and the headers
//
// [Run] compares the status, the headers that matter and the whole body, without the order of
// members and without managedFields. [Gaps] lists the cases in which this project's server
// deliberately differs; they must differ, so that the list stays true.
package apiservertest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Run plays every script and compares the answers with the recordings. newTarget is called once per
// script and returns a fresh server. gaps are the cases that must differ: [Gaps] for this project's
// server, none for kube-apiserver.
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

// check plays a case. If reason, that of a gap, is not empty, the answer must differ.
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
		assert.NotEqual(t, want, got, "the gap has closed, remove it from the list (%s)", reason)
		return
	}
	assert.Equal(t, want, got, "%s %s", c.Method, c.Path)
}

// gapsByCase returns the reasons by theme and title. An invalid gap fails the test.
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
		assert.True(t, cases[key], "gap %s: %s: no such case", gap.Theme, gap.Title)
		assert.NotEmpty(t, gap.Reason, "the gap %s: %s", gap.Theme, gap.Title)
		assert.Empty(t, reasons[key], "gap %s: %s is listed twice", gap.Theme, gap.Title)
		reasons[key] = gap.Reason
	}
	return reasons
}

// Gap is a case in which this project's server deliberately differs from kube-apiserver.
type Gap struct {
	Theme, Title string
	// Reason says why, in the same words as docs/operate/apiserver.md.
	Reason string
}

const (
	onlyText = "Answers are JSON, never YAML or protobuf."
	noYAML   = "Bodies are JSON or protobuf, never YAML."
	anyShape = "The schema of a definition is not checked; one that is not structural is accepted."
	onlyV3   = "The document of version 2 is empty, and in protobuf only: kubectl asks for it and reads version 3."
	noRules  = "The rules in x-kubernetes-validations are accepted and ignored; a warning says so."
	noChecks = "The selectable fields of a definition are not checked."
	noApply  = "Server-side apply is not implemented and refused with 415."
)

// Gaps returns the deliberate gaps. They are those of the section "Deliberate gaps" of
// docs/operate/apiserver.md.
func Gaps() []Gap {
	return []Gap{
		{Theme: "discovery", Title: "The OpenAPI document, version 2", Reason: onlyV3},
		{Theme: "forms", Title: "An unknown media type alone", Reason: onlyText},
		{Theme: "forms", Title: "application/* is not acceptable", Reason: onlyText},
		{Theme: "forms", Title: "Plain text is not available", Reason: onlyText},
		{Theme: "forms", Title: "HTML is not available for an object", Reason: onlyText},
		{Theme: "forms", Title: "Protobuf or JSON", Reason: onlyText},
		{Theme: "forms", Title: "Protobuf alone", Reason: onlyText},
		{Theme: "forms", Title: "YAML is served", Reason: onlyText},
		{Theme: "input", Title: "YAML", Reason: noYAML},
		{Theme: "input", Title: "An unknown content type", Reason: noYAML},
		{Theme: "input", Title: "An invalid content type", Reason: noYAML},
		{Theme: "input", Title: "A form content type", Reason: noYAML},
		{Theme: "patch", Title: "Server-side apply", Reason: noApply},
		{Theme: "patch", Title: "Server-side apply needs a manager", Reason: noApply},
		{Theme: "schemas", Title: "Refused: no type at the root", Reason: anyShape},
		{Theme: "schemas", Title: "Refused: a selectable field that does not exist", Reason: noChecks},
		{Theme: "schemas", Title: "Refused: a selectable field of a list", Reason: noChecks},
		{Theme: "schemas", Title: "Refused: selectable fields twice", Reason: noChecks},
		{Theme: "schemas", Title: "The definition of Gateways", Reason: noRules},
		{Theme: "schemas", Title: "Gateway: no class", Reason: noRules},
		{Theme: "schemas", Title: "Gateway: listeners of one name", Reason: noRules},
		{Theme: "schemas", Title: "Gateway: listeners of one port", Reason: noRules},
		{Theme: "schemas", Title: "Gateway: TLS for HTTP", Reason: noRules},
	}
}

// Target is a server under test.
type Target struct {
	// URL is its address without a trailing slash.
	URL string
	// Transport sends requests as an administrator (group system:masters).
	Transport http.RoundTripper
	// Anonymous sends requests without credentials.
	Anonymous http.RoundTripper
}

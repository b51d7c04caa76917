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
//	own message              this project's server refuses with a message of its own
//	gap reason               this project's server differs, see docs/operate/apiserver.md
//
// [Run] compares the status, the headers that matter and the whole body, without the order of
// members and without managedFields. Where a line says that there is a difference there must be
// one, so that these lines stay true.
package apiservertest

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Run plays every script and compares the answers with the recordings. newTarget is called once per
// script and returns a fresh server. genuine says that it is kube-apiserver, which has no gaps.
func Run(t *testing.T, newTarget func(t *testing.T) Target, genuine bool) {
	scripts, err := Scripts()
	require.NoError(t, err)
	for _, script := range scripts {
		t.Run(script.Theme, func(t *testing.T) {
			recording, err := RecordingOf(script)
			require.NoError(t, err)
			player := NewPlayer(newTarget(t))
			for _, c := range script.Cases {
				t.Run(c.Title, func(t *testing.T) {
					check(t, player, c, recording.Answers[c.Title], genuine)
				})
			}
		})
	}
}

// check plays a case. With a gap or a message of its own the answer must differ.
func check(t *testing.T, player *Player, c *Case, recorded *Answer, genuine bool) {
	answer, err := player.Play(t.Context(), c)
	if err != nil {
		if genuine || c.Gap == "" {
			assert.NoError(t, err)
		}
		return
	}
	want, got := recorded.String(), answer.String()
	if !genuine && (c.Gap != "" || c.OwnMessage) {
		assert.NotEqual(t, want, got, "there is no difference left, remove its line (%s)", c.Gap)
		want, got = message.ReplaceAllString(want, ""), message.ReplaceAllString(got, "")
	}
	if genuine || c.Gap == "" {
		assert.Equal(t, want, got, "%s %s", c.Method, c.Path)
	}
}

// message matches the messages of a Status and its causes.
var message = regexp.MustCompile(`"message": ".*"`)

// Target is a server under test.
type Target struct {
	// URL is its address without a trailing slash.
	URL string
	// Transport sends requests as an administrator (group system:masters).
	Transport http.RoundTripper
	// Anonymous sends requests without credentials.
	Anonymous http.RoundTripper
}

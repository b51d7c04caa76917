package chaos

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked returns the answer to a client of a door with a fault, and how many requests reached the
// server.
func asked(t *testing.T, fault answerFault) (answer *http.Response, body string, err error, times int) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		times++
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"NamespaceList","items":[]}`)
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	require.NoError(t, err)
	faults := newHTTPFaults(1)
	faults.change(func(f *httpFaults) { f.answer, f.answerShare = fault, 1 })
	r := newRewriter("u", target, &tls.Config{}, faults, nil, nil)
	defer r.close()
	door := httptest.NewServer(r)
	defer door.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err = client.Get(door.URL + "/api/v1/namespaces")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	assert.Equal(t, 1, faults.struck())
	return answer, string(text), err, times
}

func TestProxiesSpoilAnswers(t *testing.T) {
	answer, body, err, times := asked(t, htmlAnswers)
	require.NoError(t, err)
	assert.Equal(t, http.StatusBadGateway, answer.StatusCode)
	assert.True(t, strings.HasPrefix(body, "<html>"))
	assert.Zero(t, times)

	answer, _, err, times = asked(t, redirects)
	require.NoError(t, err)
	assert.Equal(t, http.StatusFound, answer.StatusCode)
	assert.Zero(t, times)

	answer, body, err, times = asked(t, emptyAnswers)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	assert.Empty(t, body)
	assert.Zero(t, times)

	answer, body, err, times = asked(t, mistypedAnswers)
	require.NoError(t, err)
	assert.Contains(t, answer.Header.Get("Content-Type"), "text/html")
	assert.Contains(t, body, "NamespaceList")
	assert.Equal(t, 1, times)

	_, body, err, times = asked(t, cutAnswers)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Less(t, len(body), 30)
	assert.Equal(t, 1, times)

	answer, body, err, _ = asked(t, farewells)
	require.NoError(t, err)
	assert.True(t, answer.Close)
	assert.Contains(t, body, "NamespaceList")
}

func TestErrorsInWatches(t *testing.T) {
	for name, f := range framings {
		names, err := through(t, name, func(s *streamFaults) { s.errorAfter, s.errorCode = 2, 418 })
		require.NoError(t, err, "the stream ends cleanly")
		assert.Equal(t, []string{"o0", "o1"}, names, name)
		failure := f.framing.failure(418)
		if f.framing.wrap == nil {
			assert.Empty(t, failure)
			continue
		}
		frame, err := f.framing.read(bufio.NewReader(bytes.NewReader(failure)))
		require.NoError(t, err, name)
		assert.Contains(t, string(frame), `"code":418`)
	}
}

func TestBookmarksWithoutAVersion(t *testing.T) {
	const bookmark = `{"type":"BOOKMARK","object":{"kind":"Namespace","apiVersion":"v1","metadata":{"resourceVersion":"123"}}}`
	const without = `{"type":"BOOKMARK","object":{"kind":"Namespace","apiVersion":"v1","metadata":{"resourceVersion":""}}}`
	assert.Equal(t, without+"\n", string(lines.withoutVersion([]byte(bookmark+"\n"))))
	assert.Equal(t, string(writeSocketFrame([]byte(without))), string(socket.withoutVersion(writeSocketFrame([]byte(bookmark)))))
	assert.Equal(t, "other", string(protobuf.withoutVersion([]byte("other"))))
}

func TestEventsInPieces(t *testing.T) {
	for name := range framings {
		names, err := through(t, name, func(s *streamFaults) { s.pieces = 3 })
		require.NoError(t, err)
		assert.Len(t, names, 10, name)
	}
}

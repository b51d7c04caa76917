package apiservertest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served is a transport that answers by a function.
type served func(w http.ResponseWriter, r *http.Request)

func (s served) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body == nil {
		request.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	s(recorder, request)
	return recorder.Result(), nil
}

// broken is a connection that always fails.
type broken struct{}

func (broken) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no connection")
}

func answer(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func playAll(t *testing.T, target Target, text string) []*Answer {
	t.Helper()
	script, err := ParseScript("test", text)
	require.NoError(t, err)
	player := NewPlayer(target)
	var answers []*Answer
	for _, c := range script.Cases {
		answer, err := player.Play(t.Context(), c)
		require.NoError(t, err, c.Title)
		answers = append(answers, answer)
	}
	return answers
}

func TestRequestsUseKeptValues(t *testing.T) {
	var asked []string
	target := Target{URL: "http://server", Transport: served(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), r.Header.Get("X"), body))
		answer(w, 200, "application/json", `{"items":[{"metadata":{"name":"a-b1c2d3e4f5","uid":"u","resourceVersion":"7","managedFields":[]}}]}`)
	})}
	answers := playAll(t, target, `
=== first
GET /list
keep name = items.0.metadata.name
keep version = items.0.metadata.resourceVersion

=== second
PUT /list/${name}
X: ${version}
Content-Type: text/x

${pad:3} ${name}
`)
	assert.Equal(t, []string{
		"GET http://server/list   ",
		"PUT http://server/list/a-b1c2d3e4f5 text/x 7 xxx a-b1c2d3e4f5",
	}, asked)
	assert.Equal(t, map[string]any{"items": []any{map[string]any{"metadata": map[string]any{
		"name": "${name}", "uid": "<uid>", "resourceVersion": "<version>",
	}}}}, answers[0].Documents[0], "the version of a list")
}

func TestAnonymousRequestsHaveNoCredentials(t *testing.T) {
	target := Target{
		Transport: broken{},
		Anonymous: served(func(w http.ResponseWriter, r *http.Request) { answer(w, 401, "text/plain", "who") }),
	}
	answers := playAll(t, target, "=== a\nGET /\nas anonymous")
	assert.Equal(t, "HTTP 401\nContent-Type: text/plain\n\nwho\n", answers[0].String())
}

func TestEventsAreReadOneByOne(t *testing.T) {
	endless := served(func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, "application/json", strings.Repeat(`{"type":"ADDED"}`+"\n", 100))
	})
	answers := playAll(t, Target{Transport: endless}, "=== a\nGET /\nevents 2\nkeep type = 1.type\n\n=== b\nGET /\nwithout body")
	assert.Len(t, answers[0].Documents, 2)
	assert.Equal(t, "HTTP 200\nContent-Type: application/json\n", answers[1].String())
}

func TestRequestsAreRepeatedUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		target := Target{Transport: served(func(w http.ResponseWriter, r *http.Request) {
			n++
			switch n {
			case 1, 2:
				answer(w, 404, "application/json", `{}`)
			case 3, 4:
				answer(w, 200, "application/json", `{"status":{"phase":"Pending"}}`)
			default:
				answer(w, 200, "application/json", `{"status":{"phase":"Ready"}}`)
			}
		})}
		started := time.Now()
		playAll(t, target, "=== a\nGET /\nuntil 200\n\n=== b\nGET /\nuntil status.phase = Ready")
		assert.Equal(t, 5, n)
		assert.Equal(t, 3*repeatEvery, time.Since(started))
	})
}

func TestWaitingInVainNamesTheCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := Target{Transport: served(func(w http.ResponseWriter, r *http.Request) { answer(w, 418, "text/plain", "teapot") })}
		script, err := ParseScript("test", "=== a\nGET /\nuntil 200")
		require.NoError(t, err)
		_, err = NewPlayer(target).Play(t.Context(), script.Cases[0])
		assert.ErrorContains(t, err, "timed out waiting")
		assert.ErrorContains(t, err, "teapot")
	})
}

package apiservertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parrot answers the requests of a script as recorded. Masking is idempotent, so it passes the
// suite. spoil may change an answer.
type parrot struct {
	answers []*Answer
	spoil   func(title string, a *Answer) *Answer
	titles  []string
	next    int
}

func newParrot(t *testing.T, script *Script) *parrot {
	recording, err := RecordingOf(script)
	require.NoError(t, err)
	p := &parrot{}
	for _, c := range script.Cases {
		p.answers = append(p.answers, recording.Answers[c.Title])
		p.titles = append(p.titles, c.Title)
	}
	return p
}

func (p *parrot) RoundTrip(*http.Request) (*http.Response, error) {
	a := p.answers[p.next]
	if p.spoil != nil {
		a = p.spoil(p.titles[p.next], a)
	}
	p.next++
	response := &http.Response{StatusCode: a.Status, Header: http.Header{}}
	var body strings.Builder
	for _, header := range a.Headers {
		response.Header.Add(header.Name, header.Value)
	}
	for _, document := range a.Documents {
		body.Write(indent(document))
	}
	body.WriteString(a.Text)
	response.Body = io.NopCloser(strings.NewReader(body.String()))
	return response, nil
}

// targets returns a parrot for each script, in their order.
func targets(t *testing.T, spoil func(string, *Answer) *Answer) func(*testing.T) Target {
	scripts, err := Scripts()
	require.NoError(t, err)
	return func(t *testing.T) Target {
		p := newParrot(t, scripts[0])
		p.spoil = spoil
		scripts = scripts[1:]
		return Target{URL: "http://parrot", Transport: p, Anonymous: p}
	}
}

func TestRecordedAnswersPass(t *testing.T) {
	Run(t, targets(t, nil), nil)
}

func TestGapsMustDiffer(t *testing.T) {
	gaps := []Gap{{Theme: "crud", Title: "It is read", Reason: "for the test"}}
	Run(t, targets(t, func(title string, a *Answer) *Answer {
		if title != "It is read" {
			return a
		}
		return &Answer{Status: http.StatusTeapot}
	}), append(gaps, Gap{Theme: "custom", Title: "It is read", Reason: "for the test"}))
}

func TestNothingButTheMaskedMayDiffer(t *testing.T) {
	recorded := &Answer{Status: 200, Headers: []Header{{"Content-Type", "application/json"}}, Documents: []any{map[string]any{"a": "b"}}}
	for name, other := range map[string]*Answer{
		"status":   {Status: 201, Headers: recorded.Headers, Documents: recorded.Documents},
		"header":   {Status: 200, Documents: recorded.Documents},
		"document": {Status: 200, Headers: recorded.Headers, Documents: []any{map[string]any{"a": "c"}}},
		"more":     {Status: 200, Headers: recorded.Headers, Documents: []any{map[string]any{"a": "b", "c": "d"}}},
		"less":     {Status: 200, Headers: recorded.Headers},
	} {
		assert.NotEqual(t, recorded.String(), other.String(), name)
	}
}

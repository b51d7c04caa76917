package restclient

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseWarnings(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []Warning
	}{
		{"none", nil, nil},
		{"one", []string{`299 - "policy/v1beta1 is deprecated"`}, []Warning{{Code: 299, Agent: "-", Text: "policy/v1beta1 is deprecated"}}},
		{"two in a line, one with a date", []string{`299 agent "a \"b\" \\" "Sun, 01 Mar 2026 12:00:00 GMT", 299 - "c, d"`},
			[]Warning{{Code: 299, Agent: "agent", Text: `a "b" \`}, {Code: 299, Agent: "-", Text: "c, d"}}},
		{"two lines", []string{`299 - "a"`, `299 - "b"`}, []Warning{{Code: 299, Agent: "-", Text: "a"}, {Code: 299, Agent: "-", Text: "b"}}},
		{"of caches, which are not meant for people", []string{`110 - "Response is Stale"`}, nil},
		{"broken ones are skipped", []string{`299`, `299 -`, `299 - unquoted`, `299 - "open`, `299 - "open\`, `abc - "x"`, `2999 - "x"`, `299 - "good"`},
			[]Warning{{Code: 299, Agent: "-", Text: "good"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, parseWarnings(http.Header{"Warning": c.lines}))
		})
	}
}

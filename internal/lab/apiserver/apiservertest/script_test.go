package apiservertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `# A first
# and a second line.

=== One is created
POST /things
Accept: application/json
keep name = metadata.name
until status.phase = Ready

{
  "a": 1
}

# a comment
=== It is watched
GET /things?watch=true
events 2
as anonymous
without body
=== It goes
DELETE /things/${name}
until 404
`

func TestScriptIsParsed(t *testing.T) {
	script, err := ParseScript("sample", sample)
	require.NoError(t, err)
	assert.Equal(t, &Script{
		Theme: "sample",
		About: "A first\nand a second line.",
		Cases: []*Case{
			{
				Title: "One is created", Method: "POST", Path: "/things",
				Headers: []Header{{"Accept", "application/json"}},
				Keep:    []Keep{{"name", "metadata.name"}},
				Until:   &Until{Path: "status.phase", Value: "Ready"},
				Body:    "{\n  \"a\": 1\n}",
			},
			{Title: "It is watched", Method: "GET", Path: "/things?watch=true", Events: 2, Anonymous: true, NoBody: true},
			{Title: "It goes", Method: "DELETE", Path: "/things/${name}", Until: &Until{Status: 404}},
		},
	}, script)
}

// Every script says what it is about.
func TestEveryScriptSaysWhatItIsAbout(t *testing.T) {
	scripts, err := Scripts()
	require.NoError(t, err)
	cases := 0
	for _, script := range scripts {
		assert.NotEmpty(t, script.About, script.Theme)
		cases += len(script.Cases)
	}
	assert.Greater(t, cases, 600)
}

package faults_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/faults"
)

// Errors say what would be valid.
func TestMistakes(t *testing.T) {
	for text, words := range map[string]string{
		"":                                     `unknown kind ""; the kinds are cut-watches, compact, silence`,
		":by=1s":                               `unknown kind ""`,
		"dealy":                                `unknown kind "dealy"; the kinds are cut-watches, compact, silence`,
		"delay:":                               `options after the colon must be name=value, separated by commas, not ""`,
		"delay:by":                             `not "by"`,
		"delay:by,for=1s":                      `not "by,for=1s"`,
		"delay:by=":                            "the option by has no value",
		"delay:by=1s,":                         `not ""`,
		"delay:how=1s":                         `delay has no option "how"; its options are by, verb, group`,
		"delay:by=1s,by=2s":                    "duplicate option by",
		"delay:by=1":                           "by=1: must be a duration such as 300ms, 10s or 2m",
		"delay:by=-1s":                         "must be a duration",
		"delay:by=1s,for=ever":                 "for=ever: must be a duration",
		"delay:count=0":                        "count=0: must be an integer, 1 or more",
		"delay:count=99999999999":              "must be an integer",
		"delay:share=0":                        "share=0: must be more than 0 and at most 1, or a percentage",
		"delay:share=101%":                     "must be more than 0",
		"delay:share=NaN":                      "must be more than 0",
		"delay:verb=list|":                     "verb=list|: must be names with a | between them",
		"delay:verb=\x07":                      "has control characters",
		"too-many-requests:retry-after=1500ms": "retry-after must be whole seconds",
		"withhold-bookmarks:which=some":        "which=some: must be regular, initial or all",
		"forbid":                               "it needs at least one of verb, group",
		"forbid:count=3":                       "it needs at least one of verb, group",
		"compact:count=2":                      "without every it happens once",
		"compact:verb=list":                    `compact has no option "verb"`,
		"broken-group:group=a/v1":              "group and version must each be a single name",
		`webhook-denies:message="a`:            `must be name=value, separated by commas, not "message=`,
		`webhook-denies:message="a\n"`:         "has control characters",
		`webhook-denies:message="\z"`:          "the value of message is not a quoted text",
		`webhook-denies:message="a"b`:          `must be name=value, separated by commas, not "message=`,
	} {
		s := faults.New()
		_, err := s.Add(text)
		var syntax *faults.SyntaxError
		if assert.ErrorAs(t, err, &syntax, "%q", text) {
			assert.Equal(t, text, syntax.Text)
			assert.Contains(t, err.Error(), words)
		}
		assert.Empty(t, s.List(), "%q added a fault", text)
	}
}

// The help shows the usage of each kind, which must be valid.
func TestCatalogue(t *testing.T) {
	kinds := faults.Catalogue()
	assert.Len(t, kinds, 27)
	for _, kind := range kinds {
		s := faults.New()
		_, err := s.Add(kind.Usage)
		assert.NoError(t, err)
		s.Stop()
		for _, text := range []string{kind.Summary, kind.Teaches} {
			assert.Regexp(t, `^[A-Z].*\.$`, text, kind.Name)
		}
		assert.Contains(t, kind.Usage, kind.Name)
	}
	kinds[0].Name = "changed"
	assert.NotEqual(t, "changed", faults.Catalogue()[0].Name, "Catalogue returns a copy")
}

func FuzzAdd(f *testing.F) {
	for _, kind := range faults.Catalogue() {
		f.Add(kind.Usage)
	}
	f.Add(`webhook-denies:message="a\\",count=3`)
	f.Fuzz(func(t *testing.T, text string) {
		s := faults.New()
		defer s.Stop()
		id, err := s.Add(text)
		if err != nil {
			var syntax *faults.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Equal(t, text, syntax.Text)
			require.NotEmpty(t, syntax.Problem)
			require.Empty(t, s.List())
			return
		}
		require.NotEmpty(t, id)
	})
}

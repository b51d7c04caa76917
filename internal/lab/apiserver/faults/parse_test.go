package faults_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/faults"
)

func TestSpellings(t *testing.T) {
	for _, text := range []string{
		"compact", " compact ", "compact:every=10s", "cut-watches:every=1m,count=3,for=10m",
		"silence:for=2m", "delay:by=300ms", "delay: by = 300ms , verb = list|watch ",
		"too-many-requests:share=0.3", "too-many-requests:share=30%,seed=7,retry-after=2s",
		`webhook-denies:message="a, b and \"c\" \\"`, `webhook-denies:message="a" , webhook=b`,
		"broken-group:group=a.example.com,version=v1", "node-lost:node=a|b", "stale-reads:versions=3",
		"conflict:count=2147483647", "forbid:group=core", "too-many-requests:retry-after=none",
		"withhold-bookmarks", "withhold-bookmarks:which=initial", "repeat-events:back=3,share=10%", "stale-events:back=5",
	} {
		s := faults.New()
		id, err := s.Add(text)
		require.NoError(t, err, text)
		assert.NotEmpty(t, id)
		s.Stop()
	}
}

// Who mistypes a fault is told what would have been right.
func TestMistakes(t *testing.T) {
	for text, words := range map[string]string{
		"":                                     "it begins with the kind of fault, one of cut-watches, compact, silence",
		":by=1s":                               "it begins with the kind of fault",
		"dealy":                                "there is no kind dealy; the kinds are cut-watches, compact, silence",
		"delay:":                               `options as name=value, separated by commas; "" is none`,
		"delay:by":                             `"by" is none`,
		"delay:by,for=1s":                      `"by" is none`,
		"delay:by=":                            `the option "by" has no value`,
		"delay:by=1s,":                         `"" is none`,
		"delay:how=1s":                         "delay takes no option how; its options are by, verb, group",
		"delay:by=1s,by=2s":                    "the option by is there twice",
		"delay:by=1":                           "by=1: it has to be a time with its unit, as 300ms, 10s or 2m",
		"delay:by=-1s":                         "it has to be a time",
		"delay:by=1s,for=ever":                 "for=ever: it has to be a time",
		"delay:count=0":                        "count=0: it has to be a whole number, 1 or more",
		"delay:count=99999999999":              "it has to be a whole number",
		"delay:share=0":                        "share=0: it has to be more than 0 and at most 1, or a percentage",
		"delay:share=101%":                     "it has to be more than 0",
		"delay:share=NaN":                      "it has to be more than 0",
		"delay:verb=list|":                     "verb=list|: there is nothing before or after a |",
		"delay:verb=\x07":                      "has control characters in it",
		"too-many-requests:retry-after=1500ms": "retry-after is in whole seconds",
		"withhold-bookmarks:which=some":        "which=some: it has to be regular, initial or all",
		"forbid":                               "it needs at least one of verb, group",
		"forbid:count=3":                       "it needs at least one of verb, group",
		"compact:count=2":                      "without every it happens once",
		"compact:verb=list":                    "compact takes no option verb",
		"broken-group:group=a/v1":              "group and version are one of each",
		`webhook-denies:message="a`:            "the value of message has no closing quote",
		`webhook-denies:message="a\n"`:         `has a \ in front of something else`,
		`webhook-denies:message="a"b`:          `after the value of "message" comes a comma or the end`,
	} {
		s := faults.New()
		_, err := s.Add(text)
		var syntax *faults.SyntaxError
		if assert.ErrorAs(t, err, &syntax, "%q", text) {
			assert.Equal(t, text, syntax.Text)
			assert.Contains(t, err.Error(), words)
		}
		assert.Empty(t, s.List(), "nothing has been switched on by %q", text)
	}
}

// What a terminal shows of somebody else's text is one line of letters that ends.
func TestMistakesAreShownHarmlessly(t *testing.T) {
	long := make([]byte, 5000)
	for i := range long {
		long[i] = "\x1b[31m"[i%5]
	}
	_, err := faults.New().Add("delay:" + string(long))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "\x1b")
	assert.Less(t, len(err.Error()), 2500)
}

// The help shows the usage of each kind, so it has to be right.
func TestCatalogue(t *testing.T) {
	kinds := faults.Catalogue()
	assert.Len(t, kinds, 20)
	for _, kind := range kinds {
		s := faults.New()
		_, err := s.Add(kind.Usage)
		assert.NoError(t, err)
		s.Stop()
		for _, text := range []string{kind.Summary, kind.Teaches} {
			assert.Regexp(t, `^[A-Z].*\.$`, text, kind.Name)
		}
		for _, option := range kind.Options {
			assert.NotEmpty(t, option.Meaning, option.Name)
		}
		assert.Contains(t, kind.Usage, kind.Name)
	}
	kinds[0].Name = "changed"
	assert.NotEqual(t, "changed", faults.Catalogue()[0].Name, "the catalogue is not the caller's")
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
		// What has been understood once is understood again.
		for _, active := range s.List() {
			again := faults.New()
			_, err := again.Add(active.Text)
			require.NoError(t, err)
			require.Equal(t, s.Lag(), again.Lag())
			require.Equal(t, s.Unavailable(), again.Unavailable())
			again.Stop()
		}
	})
}

package informer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSelectorPicks(t *testing.T) {
	web := map[string]string{"app": "web", "tier": "front", "replicas": "3", "example.com/team": "a", "empty": ""}
	for text, want := range map[string]bool{
		"":                                true,
		"  ":                              true,
		"app":                             true,
		"!app":                            false,
		"! missing":                       true,
		"missing":                         false,
		"app=web":                         true,
		"app==web":                        true,
		"app = web":                       true,
		"app=api":                         false,
		"missing=web":                     false,
		"app!=web":                        false,
		"app!=api":                        true,
		"missing!=web":                    true,
		"empty=":                          true,
		"app=":                            false,
		"app in (web, api)":               true,
		"app in (api)":                    false,
		"missing in (web)":                false,
		"app notin (api,db)":              true,
		"app notin (web)":                 false,
		"missing notin (web)":             true,
		"empty in (,x)":                   true,
		"replicas>2":                      true,
		"replicas > 3":                    false,
		"replicas<4":                      true,
		"replicas<3":                      false,
		"app>1":                           false,
		"missing<1":                       false,
		"app=web,tier=front":              true,
		"app=web , tier=back":             false,
		"app in (web),tier notin (back),": false, // does not parse; see below
		"example.com/team=a":              true,
		"app,!missing,replicas>1":         true,
	} {
		s, err := ParseSelector(text)
		if strings.HasSuffix(text, ",") {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, s.Matches(web), text)
	}
}

func TestZeroSelectorPicksEverything(t *testing.T) {
	var s Selector
	assert.True(t, s.Empty())
	assert.True(t, s.Matches(nil))
	assert.Empty(t, s.String())
}

func TestSelectorFromSet(t *testing.T) {
	s := SelectorFromSet(map[string]string{"b": "2", "a": "1"})
	assert.Equal(t, "a=1,b=2", s.String())
	assert.True(t, s.Matches(map[string]string{"a": "1", "b": "2", "c": "3"}))
	assert.False(t, s.Matches(map[string]string{"a": "1"}))
	assert.True(t, SelectorFromSet(nil).Empty())
}

func TestSelectorIsWrittenSorted(t *testing.T) {
	s, err := ParseSelector("z, a in (y,x), b notin (q), !c, d!=1, e>5, f<6, g==h")
	require.NoError(t, err)
	assert.Equal(t, "a in (x,y),b notin (q),!c,d!=1,e>5,f<6,g=h,z", s.String())
}

func TestSelectorErrorsSayWhere(t *testing.T) {
	long := strings.Repeat("x", 64)
	for text, want := range map[string]struct {
		offset int
		want   string
	}{
		"a=1 b":                    {4, "a comma or the end"},
		"a=1,":                     {4, "a label key"},
		"=1":                       {0, "a label key"},
		"-a":                       {0, "a label key"},
		long:                       {0, "a label key"},
		"Upper.Case/a":             {0, "a label key"},
		"a_b/c":                    {0, "a label key"},
		"/a":                       {0, "a label key"},
		"a..b/c":                   {0, "a label key"},
		"a/b/c":                    {0, "a label key"},
		"a=-":                      {2, "a label value"},
		"a in (-)":                 {6, "a label value"},
		"a near (b)":               {2, "an operator"},
		"a in b":                   {5, "an opening parenthesis"},
		"a in (b":                  {7, "a comma or a closing parenthesis"},
		"a in (b c)":               {8, "a comma or a closing parenthesis"},
		"a > b":                    {4, "a whole number"},
		"a > 99999999999999999999": {4, "a whole number"},
		"!":                        {1, "a label key"},
	} {
		_, err := ParseSelector(text)
		var selectorError *SelectorError
		require.ErrorAs(t, err, &selectorError, text)
		assert.Equal(t, &SelectorError{Selector: text, Offset: want.offset, Want: want.want}, selectorError)
		assert.Contains(t, err.Error(), want.want)
	}
}

// TestSelectorSurvivesWriting: what String writes is read back as the same selector.
func TestSelectorSurvivesWriting(t *testing.T) {
	key := rapid.StringMatching(`([a-z]([a-z0-9-]{0,5}[a-z0-9])?\.example/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,5}[A-Za-z0-9])?`)
	value := rapid.StringMatching(`([A-Za-z0-9]([A-Za-z0-9_.-]{0,5}[A-Za-z0-9])?)?`)
	rapid.Check(t, func(t *rapid.T) {
		var terms []string
		labels := map[string]string{}
		for range rapid.IntRange(0, 5).Draw(t, "terms") {
			k, v := key.Draw(t, "key"), value.Draw(t, "value")
			labels[k] = value.Draw(t, "label")
			terms = append(terms, rapid.SampledFrom([]string{
				k, "!" + k, k + "=" + v, k + "==" + v, k + "!=" + v, k + " in (" + v + ",x)", k + " notin (" + v + ")", k + ">7", k + "<7",
			}).Draw(t, "term"))
		}
		first, err := ParseSelector(strings.Join(terms, ","))
		require.NoError(t, err)
		second, err := ParseSelector(first.String())
		require.NoError(t, err, first.String())
		require.Equal(t, first, second)
		require.Equal(t, first.Matches(labels), second.Matches(labels))
	})
}

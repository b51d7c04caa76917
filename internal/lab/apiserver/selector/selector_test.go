package selector_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/selector"
)

func TestLabelsMatch(t *testing.T) {
	labels := map[string]string{"app": "web", "load": "7", "empty": "", "in": "x", "name": "seven"}
	for text, want := range map[string]bool{
		"": true, " ": true,
		"app": true, "!app": false, "gone": false, "!gone": true,
		"app=web": true, "app==web": true, "app=db": false, "gone=": false, "empty=": true,
		"app!=web": false, "app!=db": true, "gone!=x": true,
		"app in (db, web)": true, "app in (db)": false, "gone in (x)": false, "empty in ()": true, "empty in (x,)": true,
		"app notin (db, web)": false, "app notin (db)": true, "gone notin (x)": true,
		"load>6": true, "load>7": false, "load<8": true, "load<7": false, "name>1": false, "gone<1": false,
		"in=x": true, "in in (x)": true, "app=web,load>6,!gone": true, "app=web,gone": false,
	} {
		s, err := selector.ParseLabels(text)
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, s.Matches(labels), "%q", text)
		assert.Equal(t, s.String() == "", s.Empty(), "%q", text)
	}
	assert.True(t, selector.Labels{}.Matches(nil), "the zero value selects everything")
}

func TestLabelsString(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"z, !b ,a==c":                    "a=c,!b,z",
		"a in (y,x,y)":                   "a in (x,y)",
		"a notin (,x)":                   "a notin (,x)",
		"a>1,a<3,a!=2":                   "a>1,a<3,a!=2",
		"a\tin\n(b)":                     "a in (b)",
		"example.com/a=b,example.com/b=": "example.com/a=b,example.com/b=",
	} {
		s, err := selector.ParseLabels(text)
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, s.String())
	}
}

package resources_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/resources"
)

// String is the inverse of parsing.
func FuzzParseLabels(f *testing.F) {
	for _, answer := range readRecorded(f, "labels.json") {
		f.Add(answer.Selector)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := resources.ParseLabels(text)
		if err != nil {
			return
		}
		second, err := resources.ParseLabels(first.String())
		require.NoError(t, err, "%q was written as %q", text, first.String())
		assert.Equal(t, first, second)
		assert.Equal(t, first.Matches(map[string]string{"a": "b"}), second.Matches(map[string]string{"a": "b"}))
	})
}

// recorded is a selector and the message of kube-apiserver 1.36 in a list of pods, "" if it was
// accepted.
type recorded struct {
	Selector string `json:"selector"`
	Message  string `json:"message"`
}

func readRecorded(t testing.TB, name string) []recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	var answers []recorded
	require.NoError(t, json.Unmarshal(data, &answers))
	require.NotEmpty(t, answers)
	return answers
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestLabelSelectorsAreAnsweredAsRecorded(t *testing.T) {
	for _, answer := range readRecorded(t, "labels.json") {
		_, err := resources.ParseLabels(answer.Selector)
		if strings.Contains(answer.Message, "found '") { // about the grammar, for which we have one message
			assert.ErrorContains(t, err, "unable to parse requirement: ", "%q", answer.Selector)
			continue
		}
		assert.Equal(t, answer.Message, messageOf(err), "%q", answer.Selector)
	}
}

func TestFieldSelectorsAreAnsweredAsRecorded(t *testing.T) {
	for _, answer := range readRecorded(t, "fields.json") {
		_, err := resources.ParseFields(answer.Selector)
		if strings.Contains(answer.Message, "unescaped") { // a backslash is no escape here
			assert.Error(t, err, "%q", answer.Selector)
			continue
		}
		assert.Equal(t, answer.Message, messageOf(err), "%q", answer.Selector)
	}
}

func TestLabelsMatch(t *testing.T) {
	labels := map[string]string{"app": "web", "load": "7", "empty": "", "in": "x", "name": "seven"}
	for text, want := range map[string]bool{
		"": true, " ": true,
		"app": true, "!app": false, "gone": false, "!gone": true,
		"app=web": true, "app==web": true, "app=db": false, "gone=": false, "empty=": true,
		"app!=web": false, "app!=db": true, "gone!=x": true,
		"app in (db, web)": true, "app in (db)": false, "gone in (x)": false, "empty in ()": true,
		"empty in (x,)":       true,
		"app notin (db, web)": false, "app notin (db)": true, "gone notin (x)": true,
		"load>6": true, "load>7": false, "load<8": true, "load<7": false, "name>1": false, "gone<1": false,
		"in=x": true, "in in (x)": true, "app=web,load>6,!gone": true, "app=web,gone": false,
	} {
		s, err := resources.ParseLabels(text)
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, s.Matches(labels), "%q", text)
		assert.Equal(t, s.String() == "", s.Empty(), "%q", text)
	}
	assert.True(t, resources.Labels{}.Matches(nil), "the zero value selects everything")
}

package web

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery"
	"orrery/controller/gears"
	"orrery/internal/observe/trace/tracetest"
)

// without are the gears whose events no function of the client causes.
var without = []string{"store", "lab"}

// sets are gears in which every form runs once.
var sets = []string{"fast", "textbook", "fast,deltafifo=inorder"}

// Every event has a function in each form, which the embedded sources declare, or the word that
// this form never calls the hook.
func TestEveryEventHasAFunction(t *testing.T) {
	for _, set := range sets {
		found, err := Code{Files: orrery.Source}.Find(set)
		require.NoError(t, err)
		chosen, err := gears.Parse(set)
		require.NoError(t, err)
		for event, forms := range list() {
			gear, _, _ := strings.Cut(event, ".")
			name, _, _ := strings.Cut(event, "/")
			assert.Contains(t, tracetest.Names(), name, "an event of code.yaml")
			form := chosen.Form(gear)
			function := cmp.Or(forms[form], forms[anyForm])
			require.NotEmpty(t, function, "%s has no function in the form %s", event, form)
			if function == never {
				assert.NotContains(t, found, event)
				continue
			}
			place, ok := found[event]
			assert.True(t, ok, "%s in the form %s: %s is not declared", event, form, function)
			text, err := fs.ReadFile(orrery.Source, place.File)
			require.NoError(t, err)
			assert.Contains(t, string(text), place.Text)
		}
		for _, event := range tracetest.Names() {
			if gear, _, _ := strings.Cut(event, "."); !slices.Contains(without, gear) {
				assert.Contains(t, list(), event, "code.yaml")
			}
		}
	}
}

func TestALearnersPageStandsForTheReference(t *testing.T) {
	mine := []byte("package queue\n\n// Get is mine.\nfunc (q *Queue[K]) Get() (key K, shutdown bool) { panic(1) " +
		"}\n\nfunc (q *Queue[K]) Renamed() {}\n")
	yours := map[string]YourPage{"queue/queue.go": {File: "workshop/work/08/queue/queue.go", Text: mine}}
	found, err := Code{Files: orrery.Source, Yours: yours}.Find("textbook")
	require.NoError(t, err)
	assert.Equal(t, Place{
		Name: "Queue.Get", File: "workshop/work/08/queue/queue.go", Line: 4, Yours: true,
		Text: "// Get is mine.\nfunc (q *Queue[K]) Get() (key K, shutdown bool) { panic(1) }",
	}, found["queue.got"])
	assert.NotContains(t, found, "queue.added", "the page does not declare it any more")
	assert.False(t, found["queue.delayed"].Yours)
	assert.Equal(t, "queue/delaying.go", found["queue.delayed"].File)

	// A program that was built with the page has it at the reference's place.
	files := fstest.MapFS{"queue/queue.go": {Data: mine}, "queue/queue_test.go": {Data: mine},
		"queue/broken.go": {Data: []byte("package")}}
	found, err = Code{Files: files, Yours: map[string]YourPage{"queue/queue.go": {File: "mine.go"}}}.Find("textbook")
	require.NoError(t, err)
	assert.Len(t, found, 1)
	assert.Equal(t, "mine.go", found["queue.got"].File)

	_, err = Code{}.Find("fast,quue=textbook")
	assert.ErrorContains(t, err, `there is no gear "quue"`)
}

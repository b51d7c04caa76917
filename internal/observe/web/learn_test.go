package web_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery"
	"orrery/internal/observe/web"
)

// focus gives the focus to a box.
func (b *tab) focus(box string) {
	b.T.Helper()
	value[bool](b,
		fmt.Sprintf(`(box => (box.tabIndex < 0 ? box.querySelector("[role=slider]") : box).focus() ?? true)(document.querySelector('[data-box=%q]'))`, box))
}

// closeDialog presses Escape until there is no dialog.
func (b *tab) closeDialog() {
	b.T.Helper()
	b.Press(kb.Escape)
	b.Until(`!document.querySelector("dialog")`)
}

// Every box has its terms in both languages, none longer than three lines.
func TestPageExplainsEveryBox(t *testing.T) {
	b := openTab(t, 1280, 720)
	address := replayed(t, machine(t), web.Code{})
	terms := map[string]bool{}
	boxes := strings.Fields("restclient reflector deltafifo indexer informer queue workers nsctl story time")
	for language, word := range map[string]string{
		"en": "Adding a key that is already dirty changes nothing", "zh-CN": "待处理",
	} {
		b.show(address + "&lang=" + language)
		for _, box := range boxes {
			b.focus(box)
			b.Press("e")
			b.Until(`document.querySelector("dialog dl")`)
			shown := value[string](b, `document.querySelector("dialog dl").innerText`)
			if box == "queue" {
				assert.Contains(t, shown, word)
			}
			assert.GreaterOrEqual(t, value[int](b, `document.querySelectorAll("dialog dt").length`), 2, box)
			assert.Empty(t, value[[]string](b, tooLong), "%s in %s: a meaning has at most three lines", box, language)
			terms[shown] = true
			b.closeDialog()
		}
	}
	assert.Len(t, terms, 2*len(boxes), "each box has terms of its own, in each language")
	b.Sound()
}

// tooLong returns the meanings that are empty or have more than three lines.
const tooLong = `[...document.querySelectorAll("dialog dd")].filter(e => {
	const lines = e.getClientRects()[0].height / parseFloat(getComputedStyle(e).lineHeight);
	return !(lines > 0.9 && lines < 3.1);
}).map(e => e.innerText)`

// code returns what the dialog of the code says.
func (b *tab) code() (place, all string) {
	b.T.Helper()
	b.Press("c")
	b.Until(`document.querySelector("dialog [data-code=place]")`)
	place, all = value[string](b, `document.querySelector("dialog [data-code=place]").innerText`),
		value[string](b, `document.querySelector("dialog").innerText`)
	b.closeDialog()
	return place, all
}

// The code is that of the function that acted last, in the form that runs, at the moment shown. The
// box of a learner's page has a mark.
func TestPageShowsTheCode(t *testing.T) {
	recording := file(t, "one-key")
	fast := []byte(`"gears":"fast"`)
	textbook := bytes.Replace(recording, fast, []byte(`"yours":["queue/queue.go"],"gears":"fast,queue=textbook"`), 1)
	require.NotEqual(t, recording, textbook)
	mine := []byte("package queue\n\nfunc (q *Queue[K]) Done(key K) { panic(\"mine\") }\n")
	known := web.Code{Files: orrery.Source}
	yours := known
	yours.Yours = map[string]web.YourPage{"queue/queue.go": {File: "mine/queue.go", Text: mine}}
	b := openTab(t, 1280, 720)
	for _, c := range []struct {
		recording          []byte
		source             web.Code
		place, text, yours string
	}{
		{recording, known, `queue/fast/queue.go:\d+ Queue.Done`, "func (q *Queue[K]) Done(key K) {", ""},
		{textbook, yours, "mine/queue.go:3 Queue.Done yours", `panic("mine")`, "queue"},
	} {
		b.show(replayed(t, c.recording, c.source) + "&lang=en")
		assert.Equal(t, c.yours, value[string](b,
			`[...document.querySelectorAll("[data-yours]")].map(m => m.closest("[data-box]").dataset.box).join(" ")`))
		b.Press("[[") // the end of the run, and the end of the queue
		b.at(115)
		b.focus("queue")
		place, all := b.code()
		assert.Regexp(t, "^"+c.place+"$", place)
		assert.Contains(t, all, c.text)
		assert.Contains(t, all, "It acted last in event 115, queue.done")
	}
	b.show(replayed(t, recording, web.Code{}) + "&lang=en")
	b.dialog("c", "The sources of these gears are not known here.")
	b.Sound()
}

package view_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery"
	"orrery/internal/observe/view"
	"orrery/internal/observe/view/places"
)

// focus gives the focus to a box.
func (b *tab) focus(box string) {
	b.T.Helper()
	value[bool](b, fmt.Sprintf(`(box => (box.tabIndex < 0 ? box.querySelector("[role=slider]") : box).focus() ?? true)(document.querySelector('[data-box=%q]'))`, box))
}

// closeDialog presses Escape until there is no dialog.
func (b *tab) closeDialog() {
	b.T.Helper()
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
}

// Every box has its terms in both languages, none longer than three lines.
func TestPageExplainsEveryBox(t *testing.T) {
	b := openTab(t, 1280, 720)
	address := replayed(t, machine(t))
	for language, words := range map[string]map[string]string{
		"en": {
			"restclient": "A request whose answer does not end", "reflector": "runs list-watch and recovers", "deltafifo": "each key collects the deltas",
			"indexer": "The objects of an informer by key", "informer": "The way to one handler", "queue": "Adding a key that is already dirty changes nothing",
			"workers": "takes a key from the work queue", "nsctl": "An entry in the status of an object", "story": "A function that a gear calls", "time": "every object in the store again",
		},
		"zh-CN": {
			"restclient": "响应不会结束", "reflector": "list-watch", "deltafifo": "每个键攒着自己对象的增量", "indexer": "索引", "informer": "积压", "queue": "待处理",
			"workers": "一遍处理", "nsctl": "终结器", "story": "trace 钩子", "time": "重新同步",
		},
	} {
		b.show(address + "&lang=" + language)
		for box, word := range words {
			b.focus(box)
			b.press("e")
			b.until(`document.querySelector("dialog dl")`)
			shown := value[string](b, `document.querySelector("dialog dl").innerText`)
			assert.Contains(t, shown, word, box)
			assert.GreaterOrEqual(t, value[int](b, `document.querySelectorAll("dialog dt").length`), 2, box)
			assert.Empty(t, value[[]string](b, tooLong), "%s in %s: a meaning has at most three lines", box, language)
			b.closeDialog()
		}
	}
	b.sound()
}

// tooLong returns the meanings that are empty or have more than three lines.
const tooLong = `[...document.querySelectorAll("dialog dd")].filter(e => {
	const lines = e.getClientRects()[0].height / parseFloat(getComputedStyle(e).lineHeight);
	return !(lines > 0.9 && lines < 3.1);
}).map(e => e.innerText)`

// coded returns the address of a page that shows a recording and knows the sources.
func coded(t *testing.T, recording []byte, source places.Source) string {
	t.Helper()
	server, err := view.Start(view.Config{
		Name: "test", Code: source,
		Recording: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.URL()
}

// code returns what the dialog of the code says.
func (b *tab) code() (place, all string) {
	b.T.Helper()
	b.press("c")
	b.until(`document.querySelector("dialog [data-code=place]")`)
	place, all = value[string](b, `document.querySelector("dialog [data-code=place]").innerText`), value[string](b, `document.querySelector("dialog").innerText`)
	b.closeDialog()
	return place, all
}

// The code is that of the function that acted last, in the form that runs, at the moment shown.
func TestPageShowsTheCode(t *testing.T) {
	recording, err := os.ReadFile("testdata/one-key.jsonl")
	require.NoError(t, err)
	textbook := bytes.Replace(recording, []byte(`"gears":"fast"`), []byte(`"gears":"fast,queue=textbook"`), 1)
	require.NotEqual(t, recording, textbook)
	mine := []byte("package queue\n\nfunc (q *Queue[K]) Done(key K) { panic(\"mine\") }\n")
	for name, c := range map[string]struct {
		recording   []byte
		source      places.Source
		place, text string
	}{
		"fast":     {recording, places.Source{Files: orrery.Source}, `queue/fast/queue.go:\d+ Queue.Done`, "func (q *Queue[K]) Done(key K) {"},
		"textbook": {textbook, places.Source{Files: orrery.Source}, `queue/queue.go:\d+ Queue.Done`, "func (q *Queue[K]) Done(key K) {"},
		"yours": {textbook, places.Source{Files: orrery.Source, Yours: map[string]places.Page{"queue/queue.go": {File: "mine/queue.go", Text: mine}}},
			"mine/queue.go:3 Queue.Done yours", `panic("mine")`},
		"no source": {recording, places.Source{}, "queue/fast Queue.Done", "Its source is not on this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openTab(t, 1280, 720)
			b.show(coded(t, c.recording, c.source) + "&lang=en")
			b.press("[[") // the end of the run, and the end of the queue
			b.until(`document.querySelector(".time header").innerText.includes("event 115 of 117")`)
			b.focus("queue")
			place, all := b.code()
			assert.Regexp(t, "^"+c.place+"$", place)
			assert.Contains(t, all, c.text)
			assert.Contains(t, all, "It acted last in event 115, queue.done")
			b.sound()
		})
	}
}

// Another moment has another function, and a box another one than the whole.
func TestPageShowsTheCodeOfTheMoment(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(coded(t, machine(t), places.Source{Files: orrery.Source}) + "&lang=en")
	seen := map[string]bool{}
	for _, box := range []string{"restclient", "reflector", "deltafifo", "indexer", "informer", "queue", "workers", "nsctl"} {
		b.focus(box)
		place, _ := b.code()
		seen[place] = true
	}
	assert.Greater(t, len(seen), 5)
	b.focus("queue")
	before, _ := b.code()
	for range 30 {
		b.press("{")
		b.focus("queue")
		if place, _ := b.code(); place != before {
			b.sound()
			return
		}
	}
	t.Fatalf("it is always %s", before)
}

// A file that is one page has the functions of its gears; a page without a server has none.
func TestPageInOneFileHasTheCode(t *testing.T) {
	functions, err := places.Source{Files: orrery.Source}.Find("fast")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "one.html")
	var page bytes.Buffer
	require.NoError(t, view.WriteHTML(&page, machine(t), functions))
	require.NoError(t, os.WriteFile(file, page.Bytes(), 0o600))
	b := openTab(t, 1280, 720)
	b.show("file://" + filepath.ToSlash(file) + "?lang=en")
	b.focus("deltafifo")
	place, all := b.code()
	assert.Contains(t, place, "deltafifo/fast/")
	assert.Contains(t, all, "func (f *DeltaFIFO[T])")

	page.Reset()
	require.NoError(t, view.WriteHTML(&page, machine(t), nil))
	require.NoError(t, os.WriteFile(file, page.Bytes(), 0o600))
	b.do(chromedp.Navigate("about:blank"))
	b.show("file://" + filepath.ToSlash(file) + "?lang=en")
	b.press("c")
	b.until(`document.querySelector("dialog")?.innerText.includes("The sources of these gears are not known here.")`)
	b.sound()
}

package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/internal/observe/web/viewtest"
)

func TestMain(m *testing.M) { viewtest.Main(m) }

// replayed returns the address of a page that shows a recording.
func replayed(t *testing.T, recording []byte) string {
	t.Helper()
	server, err := web.StartView(web.ViewConfig{
		Recording: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.URL()
}

// goTo goes to the moment after n events, with the keys that a reader has for it.
func goTo(b *viewtest.Tab, n int) {
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`for (const key of ["Home", ...Array(%d).fill("}"), ...Array(%d).fill("]")]) dispatchEvent(new KeyboardEvent("keydown", { key }))`, n/100, n%100)))
	b.Until(fmt.Sprintf(`document.querySelector("[data-event]").dataset.event === "%d"`, n))
}

// looks are the forms of the page. Each scene is looked at in one of them.
var looks = []struct {
	language, theme string
	width, height   int64
}{{"en", "light", 1280, 720}, {"zh-CN", "dark", 1280, 720}, {"zh-CN", "light", 1920, 1080}, {"en", "dark", 1920, 1080}}

// note is what the queue says of a key that was added again during its pass.
const note = `(document.querySelector('[data-box="queue"] .row.warn')?.innerText.trim() ?? "")`

// fits asserts that the page fits the window and can be read.
func fits(t *testing.T, b *viewtest.Tab, what string) {
	t.Helper()
	assert.Empty(t, viewtest.Value[[]string](b, viewtest.Outside), "%s: nothing is cut off", what)
	assert.Empty(t, viewtest.Value[[]string](b, viewtest.Faint), "%s: the contrast is at least 4.5", what)
}

// pageStrings returns the texts of the page.
func pageStrings(t *testing.T, language string) (all map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../observe/web/page/strings." + language + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

// The page asks each scene's question at its moment, and reveals the answer only after a choice. A
// reader needs nothing but the keyboard.
func TestScenesInThePage(t *testing.T) {
	b := viewtest.Open(t, 1280, 720)
	for i, name := range slices.Sorted(maps.Keys(guided)) {
		want, recording := guided[name], recordedWith(t, name)
		lines := parsed(t, recording)
		asked := find(lines, "lab.question")
		choices := strings.Split(lines[asked]["args"].(string), trace.ChoiceSeparator)
		look := looks[i%len(looks)]
		t.Run(name, func(t *testing.T) {
			b.T = t
			b.Do(chromedp.EmulateViewport(look.width, look.height),
				chromedp.Navigate(replayed(t, recording)+"&lang="+look.language+"&theme="+look.theme))
			b.Until(`document.querySelector('[data-box="guide"]')`)
			goTo(b, asked)
			assert.True(t, viewtest.Value[bool](b, `document.querySelector(".choices") === null`),
				"it asks at its moment")
			b.Press("]")
			b.Until(`document.querySelectorAll(".choices button").length > 0`)
			assert.Equal(t, choices, viewtest.Value[[]string](b,
				`[...document.querySelectorAll(".choices button")].map(b => b.innerText)`))
			assert.Equal(t, "group", viewtest.Value[string](b,
				`document.querySelector(".choices").role || document.querySelector(".choices").getAttribute("role")`))
			assert.Empty(t, viewtest.Value[string](b, `document.querySelector(".verdict").innerText`),
				"nothing is revealed before the choice")
			fits(t, b, "question")
			words := pageStrings(t, look.language)
			if name == "one-key" {
				b.Until(fmt.Sprintf("%s === %q", note, "● "+words["dirty-now"])) // what follows is the question
			}

			b.Press("q")
			b.Press(strings.Repeat(kb.Tab, slices.Index(choices, want)))
			b.Press(kb.Enter)
			b.Until(`document.querySelector(".verdict").innerText !== ""`)
			verdict := viewtest.Value[string](b, `document.querySelector('[role="alert"].verdict').innerText`)
			assert.Contains(t, verdict, want)
			assert.Regexp(t, "^(Right|正确)", verdict)
			assert.Greater(t, len(verdict), len(want)+40, "it says why")
			assert.Equal(t, "✔ "+want, viewtest.Value[string](b, `document.querySelector(".choices .right").innerText`))
			goTo(b, moment(lines, asked))
			fits(t, b, "answer")
			if name == "one-key" {
				b.Until(fmt.Sprintf("%s === %q", note, "● "+words["dirty-again"]))
			}
			b.Picture("scene-" + name)
			b.Press(kb.End)
			end := words["guide-"+name+"-end"]
			if end == "" { // the last chapter's
				chapters := pick(lines, "name", "lab.chapter", nil)
				end = words["guide-"+name+"-"+chapters[len(chapters)-1]]
			}
			b.Until(fmt.Sprintf(`document.querySelector(".told p").textContent === %q`, end))
			b.Sound()
		})
	}
}

// The page says of the event under the cursor what the terminal says of it.
func TestScenesSayWhatTheirEventsSay(t *testing.T) {
	recording := recordedWith(t, "one-key")
	lines := parsed(t, recording)
	at := func(name string, from int) int { return from + find(lines[from:], name) + 1 }
	held := at("queue.added", at("queue.got", 0))
	b := viewtest.Open(t, 1280, 720)
	for language, sentences := range map[string]map[int]string{
		"en": {
			at("deltafifo.popped", 0):       "shop/red: popped with 1 delta: Replaced",
			at("queue.added", 0):            "Add(shop/red): it is dirty now, and queued",
			held:                            "Add(shop/red): it is dirty now; a worker holds it, so it is not queued",
			at("queue.done", held):          "Done(shop/red): it is dirty, so it is queued",
			at("informer.handlerCalled", 0): "",
		},
		"zh-CN": {held: "Add(shop/red)：它现在是 dirty；有个 worker 拿着它，所以不入队"},
	} {
		b.Do(chromedp.Navigate(replayed(t, recording) + "&lang=" + language))
		b.Until(`document.querySelector(".says")`)
		for n, want := range sentences {
			goTo(b, n)
			assert.Equal(t, want, viewtest.Value[string](b, `document.querySelector(".says").innerText`), lines[n-1])
		}
	}
	b.Sound()
}

// Every chapter of every scene has a sentence in both languages.
func TestScenesHaveSentences(t *testing.T) {
	for _, language := range []string{"en", "zh-CN"} {
		all := pageStrings(t, language)
		for name := range guided {
			needs := []string{"question", "why"}
			for _, need := range append(needs, pick(parsed(t, recordedWith(t, name)), "name", "lab.chapter", nil)...) {
				assert.Contains(t, all, "guide-"+name+"-"+need, language)
			}
		}
	}
}

// A page whose window changed its size looks like one that was opened in that size: the boxes and
// the timeline leave room for the guide.
func TestScenesAfterAResize(t *testing.T) {
	recording := recordedWith(t, "one-key")
	b := viewtest.Open(t, 1280, 720)
	address := replayed(t, recording)
	const timeline = `document.querySelector(".body > svg")`
	const heights = `[` + timeline + `.viewBox.baseVal.height,
		...[...document.querySelectorAll("[data-box]")].map(e => Math.round(e.getBoundingClientRect().height))]`
	sizes := [][2]int64{{1280, 720}, {1920, 1080}}
	var opened [2][]int
	for i, size := range sizes {
		b.Do(chromedp.EmulateViewport(size[0], size[1]))
		b.Do(chromedp.Navigate(address + "&lang=en&theme=light"))
		b.Until(`document.querySelector('[data-box="guide"]')`)
		opened[i] = viewtest.Value[[]int](b, heights)
	}
	for i, size := range sizes { // the page is open in the larger one
		b.Do(chromedp.EmulateViewport(size[0], size[1]))
		b.Until(fmt.Sprintf(`%s.width.baseVal.value === %d`, timeline, size[0]-36))
		what := fmt.Sprintf("after a change to %d x %d", size[0], size[1])
		assert.Equal(t, opened[i], viewtest.Value[[]int](b, heights), "heights of the timeline and the boxes %s", what)
		fits(t, b, what)
	}
	b.Sound()
}

// moment returns the one that shows a scene best: before a gate lets the first item through, or
// before the answer.
func moment(lines []line, asked int) int {
	through := slices.IndexFunc(lines[asked:],
		func(e line) bool { return e["e"] == "lab.stepped" || e["e"] == "lab.released" })
	if through >= 0 && asked+through < find(lines, "lab.answer") {
		return asked + through
	}
	return find(lines, "lab.answer")
}

// A live scene waits for the reader's choice in the page, and then goes on to its answer, with the
// gate G4 closed.
func TestScenesLive(t *testing.T) {
	const chapter = "The gate G4 holds each call of a handler when the store has its object"
	const wrong = "The answer is OnUpdate · OnAdd, not OnUpdate · OnUpdate"
	const name = "store-decides"
	set, err := gears.Parse(gears.Fast)
	require.NoError(t, err)
	recorder, err := trace.Start(trace.Config{Header: trace.Header{Scene: name, Gears: gears.Fast}})
	require.NoError(t, err)
	defer recorder.Stop("the test is over")
	gates := NewGates(t.Context(), recorder)
	gates.Guide(storeDecides.Question())
	server, err := web.StartView(web.ViewConfig{Source: recorder, Control: gates})
	require.NoError(t, err)
	defer server.Stop()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Config{
			Gears: set, Recorder: recorder, Gates: gates,
			Scene: name, Out: io.Discard,
		})
	}()
	b := viewtest.Open(t, 1280, 720)
	b.Do(chromedp.Navigate(server.URL() + "&lang=en"))
	b.Until(`document.querySelectorAll(".choices button").length === 3`)
	assert.Empty(t, recorder.State().Lab.Answer)
	b.Press("q" + kb.Enter)
	b.Until(`document.querySelector(".verdict").innerText.startsWith("You chose")`)
	b.Until(fmt.Sprintf(`document.querySelector('[data-box="guide"]').innerText.includes(%q)`, chapter))
	b.Until(fmt.Sprintf(`document.querySelector(".verdict").innerText.startsWith(%q)`, wrong))
	require.NoError(t, <-ended)
	state := recorder.State()
	assert.Zero(t, state.Odd)
	assert.Empty(t, state.Lost)
	b.Sound()
}

package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/gears"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/display"
	labview "orrery/internal/lab/view"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/internal/observe/view/viewtest"
)

func TestMain(m *testing.M) { viewtest.Main(m) }

// replayed returns the address of a page that shows a recording.
func replayed(t *testing.T, recording []byte) string {
	t.Helper()
	server, err := view.Start(view.Config{
		Name:      "test",
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

// looks are the forms of the page. Each scene is looked at in one of them, and the question and the
// answer of one-key in all.
var looks = []struct {
	language, theme string
	width, height   int64
}{{"en", "light", 1280, 720}, {"zh-CN", "dark", 1280, 720}, {"zh-CN", "light", 1920, 1080}, {"en", "dark", 1920, 1080}}

// fits asserts that the page fits the window and can be read.
func fits(t *testing.T, b *viewtest.Tab, what string) {
	t.Helper()
	assert.Empty(t, viewtest.Value[[]string](b, viewtest.Outside), "%s: nothing is cut off", what)
	assert.Empty(t, viewtest.Value[[]string](b, viewtest.Faint), "%s: the contrast is at least 4.5", what)
}

// sentences returns the texts of the page.
func sentences(t *testing.T, language string) (all map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../observe/view/page/strings." + language + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

// The page asks each scene's question at its moment, and reveals the answer only after a choice. A
// reader needs nothing but the keyboard.
func TestScenesInThePage(t *testing.T) {
	b := viewtest.Open(t, 1280, 720)
	for i, name := range slices.Sorted(keysOf(guided)) {
		want, recording := guided[name], recordedWith(t, name)
		lines := parsed(t, recording)
		asked := find(lines, "lab.question")
		choices := strings.Split(lines[asked]["args"].(string), trace.ChoiceSeparator)
		look := looks[i%2]
		t.Run(name, func(t *testing.T) {
			b.T = t
			b.Do(chromedp.EmulateViewport(look.width, look.height), chromedp.Navigate(replayed(t, recording)+"&lang="+look.language+"&theme="+look.theme))
			b.Until(`document.querySelector('[data-box="guide"]')`)
			goTo(b, asked)
			assert.True(t, viewtest.Value[bool](b, `document.querySelector(".choices") === null`), "it asks at its moment")
			b.Press("]")
			b.Until(`document.querySelectorAll(".choices button").length > 0`)
			assert.Equal(t, choices, viewtest.Value[[]string](b, `[...document.querySelectorAll(".choices button")].map(b => b.innerText)`))
			assert.Equal(t, "group", viewtest.Value[string](b, `document.querySelector(".choices").role || document.querySelector(".choices").getAttribute("role")`))
			assert.Empty(t, viewtest.Value[string](b, `document.querySelector(".verdict").innerText`), "nothing is revealed before the choice")
			fits(t, b, "question")

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
			b.Picture("scene-" + name)
			b.Press(kb.End)
			end := sentences(t, look.language)["guide-"+name+"-end"]
			if end == "" { // the last chapter's
				chapters := pick(lines, "name", "lab.chapter", nil)
				end = sentences(t, look.language)["guide-"+name+"-"+chapters[len(chapters)-1]]
			}
			b.Until(fmt.Sprintf(`document.querySelector(".told p").textContent === %q`, end))
			b.Sound()
		})
	}
}

// Every chapter of every scene has a sentence in both languages.
func TestScenesHaveSentences(t *testing.T) {
	for _, language := range []string{"en", "zh-CN"} {
		all := sentences(t, language)
		for name := range guided {
			needs := []string{"question", "why"}
			for _, need := range append(needs, pick(parsed(t, recordedWith(t, name)), "name", "lab.chapter", nil)...) {
				assert.Contains(t, all, "guide-"+name+"-"+need, language)
			}
		}
	}
}

// In a small window a reader reaches the whole guide with the arrow keys, and everything else fits.
func TestScenesScrollTheGuide(t *testing.T) {
	recording := recordedWith(t, "finalizer")
	b := viewtest.Open(t, 1024, 700)
	address := replayed(t, recording)
	for _, look := range looks {
		b.Do(chromedp.EmulateViewport(1024, 700), chromedp.Navigate(address+"&lang="+look.language+"&theme="+look.theme))
		b.Until(`document.querySelector('[data-box="guide"]')`)
		goTo(b, find(parsed(t, recording), "lab.question")+1)
		b.Until(`document.querySelectorAll(".choices button").length > 0`)
		b.Press("q" + kb.Enter)
		b.Until(`document.querySelector(".verdict").innerText !== ""`)
		name := fmt.Sprintf("small-%s-%s", look.language, look.theme)
		b.Picture(name)
		for _, outside := range viewtest.Value[[]string](b, viewtest.Outside) {
			assert.Contains(t, outside, "the guide is too full", name)
		}
		b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".guide").focus()`))
		b.Press(strings.Repeat(kb.ArrowDown, 5))
		b.Until(`[...document.querySelectorAll(".guide > div")].every(e => e.getBoundingClientRect().bottom <= document.querySelector(".guide").getBoundingClientRect().bottom)`)
	}
	b.Sound()
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
	through := slices.IndexFunc(lines[asked:], func(e line) bool { return e["e"] == "lab.stepped" || e["e"] == "lab.released" })
	if through >= 0 && asked+through < find(lines, "lab.answer") {
		return asked + through
	}
	return find(lines, "lab.answer")
}

func keysOf(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// The scene one-key in every form of the page. At the question it shows the reason for the answer:
// one worker holds the key, the others are idle, and the queue has it in no line but dirty. With
// UPDATE_PICTURE=1 the test writes the README's picture.
func TestScenesShowOneKey(t *testing.T) {
	recording := recordedWith(t, "one-key")
	lines := parsed(t, recording)
	asked := find(lines, "lab.question")
	b := viewtest.Open(t, 1280, 720)
	address := replayed(t, recording)
	for _, look := range looks {
		b.Do(chromedp.EmulateViewport(look.width, look.height), chromedp.Navigate(address+"&lang="+look.language+"&theme="+look.theme))
		b.Until(`document.querySelector('[data-box="guide"]')`)
		goTo(b, asked+1)
		b.Until(`document.querySelectorAll(".choices button").length === 3`)
		b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="workers"] .key').click()`))
		b.Until(`document.querySelectorAll(".story .chip").length > 3`)
		text := func(box string) string {
			return viewtest.Value[string](b, fmt.Sprintf(`document.querySelector('[data-box=%q]').innerText.replace(/\s+/g, " ")`, box))
		}
		assert.Contains(t, text("queue"), "queue 0")
		assert.Contains(t, text("queue"), "dirty 1 shop/red ●")
		assert.Contains(t, text("queue"), "processing 1 shop/red")
		assert.Contains(t, text("queue"), "99")
		assert.Contains(t, text("workers"), "w1 shop/red")
		note := func() []string {
			return viewtest.Value[[]string](b, `[document.querySelector('[data-box="queue"] .row.warn').innerText.trim(), ...[...document.querySelectorAll(".box b.warn")].filter(e => e.innerText === "●").map(e => e.title)]`)
		}
		words := sentences(t, look.language)
		now, again := words["dirty-now"], words["dirty-again"]
		assert.Equal(t, []string{"● " + now, now, now}, note(), "what follows is the question")
		name := fmt.Sprintf("one-key-%s-%s-%d", look.language, look.theme, look.width)
		fits(t, b, name)
		b.Picture(name + "-question")
		b.Press("q" + kb.Enter) // the first choice, which is wrong
		b.Until(`document.querySelector(".choices .wrong")?.innerText === "✖ 0"`)
		assert.Equal(t, []string{"● " + again, again, again}, note())
		fits(t, b, name)
		b.Picture(name + "-answer")
	}
	b.Sound()
	if os.Getenv("UPDATE_PICTURE") != "" {
		b.Do(chromedp.EmulateViewport(1280, 720), chromedp.Navigate(address+"&lang=en&theme=light"))
		b.Until(`document.querySelector('[data-box="guide"]')`)
		goTo(b, asked+1)
		b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="workers"] .key').click()`))
		b.Until(`document.querySelectorAll(".story .chip").length > 3`)
		b.Picture("readme")
		from, err := os.ReadFile(filepath.Join("..", "..", "..", "build", "view", "readme.png"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "..", "docs", "learn", "view.png"), from, 0o644))
	}
}

// A live scene waits for the reader's choice in the page, and then goes on to its answer, with the
// gate G3 closed.
func TestScenesLive(t *testing.T) {
	const chapter = "The gate G3 holds each object when the store has it"
	const wrong = "The answer is OnUpdate · OnAdd, not OnUpdate · OnUpdate"
	const name = "store-decides"
	set, err := gears.Parse(gears.Fast)
	require.NoError(t, err)
	recorder, err := trace.Start(trace.Config{Header: trace.Header{Scene: name, Gears: gears.Fast}})
	require.NoError(t, err)
	defer recorder.Stop("the test is over")
	gates := labview.New(t.Context(), recorder)
	session := labview.NewSession(name, recorder, gates)
	server, err := view.Start(view.Config{Source: recorder, Control: session})
	require.NoError(t, err)
	defer server.Stop()
	ended := make(chan error, 1)
	go func() {
		ended <- demo.Run(t.Context(), demo.Config{
			Scene: name, Gears: set, Recorder: recorder, Guide: session, Gates: gates,
			Out: io.Discard, Glyphs: &display.ASCII,
		}, &demo.Curtain{})
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

package view_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/view"
	"orrery/internal/observe/view/viewtest"
	"orrery/queue"
)

// machine is a recording that ends with a state in which every box has something to show.
func machine(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/machine.jsonl")
	require.NoError(t, err)
	return text
}

// replayed returns the address of a page that shows a recording.
func replayed(t testing.TB, recording []byte) string {
	t.Helper()
	server, err := view.Start(view.Config{
		Name:      "test",
		Recording: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.URL()
}

// show opens a recording and goes to its end.
func (b *tab) show(address string) {
	b.T.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`document.querySelector("main.page")`)
	b.press(kb.End)
	b.until(`document.querySelector('[role="slider"]')?.getAttribute("aria-valuenow") === document.querySelector('[role="slider"]')?.getAttribute("aria-valuemax")`)
}

// text returns what a box says.
func (b *tab) text(box string) string {
	b.T.Helper()
	return value[string](b, fmt.Sprintf(`document.querySelector('[data-box=%q]').innerText.replace(/\s+/g, " ")`, box))
}

func TestPageShowsEveryBox(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t)))
	for box, words := range map[string][]string{
		"restclient": {"WATCH", "namespaces/status", "✖ 409", "✖ 503"},
		"reflector":  {"Watching", "48190", "410 ×1"},
		"deltafifo":  {"3 keys", "team-b", "A U U †"},
		"indexer":    {"23 objects", "updated", "48188 → 48190", "and 17 more"},
		"informer":   {"controller", "logger", "1,840 waiting"},
		"queue":      {"team-c", "●", "640 ms, failure 7"},
		"workers":    {"2 of 4 busy", "demo content", "idle"},
		"nsctl":      {"nsctl · demo", "✔ False DeletionDiscoveryFailure", "? Unknown DeletionContentFailure", "… True ContentRemaining", "configmaps 3"},
	} {
		shown := b.text(box)
		for _, word := range words {
			assert.Contains(t, shown, word, "box %s", box)
		}
	}
	b.sound()
}

// The scene one-key at its last coalesced Add: one worker holds the key, which is dirty and in no
// queue, two workers are idle, and the story says in one chip what 99 Adds have done. The picture
// of the README is this one.
func TestPageShowsOneKey(t *testing.T) {
	recording, err := os.ReadFile("testdata/one-key.jsonl")
	require.NoError(t, err)
	b := openTab(t, 1280, 720)
	b.show(replayed(t, recording) + "&lang=en&theme=light")
	for range 14 {
		b.press("[")
	}
	b.until(`document.querySelector(".time header").innerText.includes("event 103 of 117")`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="workers"] .key').click()`))
	b.until(`document.querySelectorAll(".story .chip").length === 4`)
	assert.Equal(t, []string{"queue added", "queue got 92 µs", "queue added", "queue coalesced ×99"},
		value[[]string](b, `[...document.querySelectorAll(".story .chip")].map(c => c.innerText)`))
	assert.Contains(t, b.text("story"), "102 events")
	assert.Contains(t, b.text("queue"), "101 Adds, 99 coalesced")
	assert.Contains(t, b.text("queue"), "queue 0")
	assert.Contains(t, b.text("queue"), "dirty 1 team-3 ●")
	assert.Contains(t, b.text("queue"), "processing 1 team-3")
	assert.Contains(t, b.text("queue"), "● Added again during the pass: Done queues it once more")
	assert.Contains(t, b.text("workers"), "1 of 3 busy")
	assert.Contains(t, b.text("workers"), "w2 idle w3 idle")
	b.picture("one-key")
	b.press(kb.End)
	b.until(`document.querySelectorAll(".story .chip").length === 7`)
	assert.Equal(t, []string{"queue done", "queue got", "queue done"},
		value[[]string](b, `[...document.querySelectorAll(".story .chip")].slice(4).map(c => c.innerText.split(" ").slice(0, 2).join(" "))`))
	b.sound()
}

// The page fits the window, in both languages and themes, and every text can be read.
func TestPageLayout(t *testing.T) {
	b := openTab(t, 1280, 720)
	address := replayed(t, machine(t))
	for _, size := range [][2]int64{{1280, 720}, {1920, 1080}} {
		for _, language := range []string{"en", "zh-CN"} {
			for _, theme := range []string{"light", "dark"} {
				name := fmt.Sprintf("machine-%s-%s-%d", language, theme, size[0])
				b.do(chromedp.EmulateViewport(size[0], size[1]))
				b.show(address + "&lang=" + language + "&theme=" + theme)
				b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="queue"] .key').click()`))
				b.until(`document.querySelectorAll(".story .chip").length > 10`)
				assert.Empty(t, value[[]string](b, viewtest.Outside), "%s: nothing is cut off", name)
				assert.Empty(t, value[[]string](b, viewtest.Faint), "%s: the contrast is at least 4.5", name)
				assert.Equal(t, language, value[string](b, `document.documentElement.lang`))
				b.picture(name)
			}
		}
	}
	b.sound()
}

func TestPageByKeyboard(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t)))
	number := func() string {
		return value[string](b, `document.querySelector(".time header").innerText.match(/event ([\d,]+) of/)[1]`)
	}
	at := func(n string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelector(".time header").innerText.includes("event %s of")`, n))
	}
	assert.Equal(t, "823", number())
	b.press("[")
	at("822")
	b.press("[[")
	at("820")
	b.press("n")
	at("821")
	b.press(kb.Home)
	at("0")
	b.press("]")
	at("1")
	b.press("}")
	at("101")
	for _, c := range []struct{ key, shift, at string }{
		{"ArrowRight", "false", "102"}, {"ArrowLeft", "false", "101"}, {"ArrowRight", "true", "201"}, {"ArrowLeft", "true", "101"},
	} {
		value[bool](b, fmt.Sprintf(`dispatchEvent(new KeyboardEvent("keydown", { key: %q, shiftKey: %s }))`, c.key, c.shift))
		at(c.at)
	}

	for range 40 { // Tab reaches every box
		if value[string](b, `document.activeElement.dataset.box ?? ""`) == "queue" {
			break
		}
		b.press(kb.Tab)
	}
	b.press("e")
	b.until(`document.querySelector("dialog")?.innerText.includes("Adding a key that is already dirty changes nothing")`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	value[bool](b, `document.querySelector('[data-box="queue"]').focus() ?? true`)
	b.press(kb.Enter)
	b.until(`document.querySelector("dialog table")?.innerText.includes("queue.added")`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	b.press(kb.Enter) // the box has the focus again
	b.until(`document.querySelector("dialog table")?.innerText.includes("queue.added")`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	b.press("t")
	b.until(`document.querySelector("dialog table")?.innerText.includes("queue.added")`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	b.press("?")
	b.until(`document.querySelector("dialog")?.innerText.includes("one event back or on")`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog")`)
	b.press("/")
	b.until(`document.activeElement.id === "filter"`)
	b.press("key=")
	b.until(`document.activeElement.getAttribute("aria-invalid") === "true"`)
	b.sound()
}

// Escape closes a notice and, without one, clears the selection. Every other key closes it, too.
func TestPageClosesANotice(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, recording(`"e":"queue.added","i":"work","k":"a"`, `"e":"queue.got","i":"work","k":"a"`)) + "&lang=en")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="workers"] .key').click()`))
	b.until(`document.querySelectorAll(".story .chip").length === 2`)
	const notice = `document.querySelector(".notice")`
	b.press("h")
	b.until(notice + `?.innerText.includes("Nothing can be held here")`)
	b.press(kb.Escape)
	b.until(`!` + notice)
	assert.Equal(t, 2, value[int](b, `document.querySelectorAll(".story .chip").length`), "the selection is still there")
	b.press("h")
	b.until(notice)
	b.press("[")
	b.until(`document.querySelector("[data-event]").dataset.event === "1"`)
	assert.True(t, value[bool](b, notice+` === null`))
	b.press(kb.Escape)
	b.until(`document.querySelectorAll(".story .chip").length === 0`)
	b.sound()
}

func TestPagePlays(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(replayed(t, machine(t))))
	b.until(`document.querySelector("main.page")`)
	speed := func(name string) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`[...document.querySelectorAll(".time button")].find(b => b.innerText === %q).click()`, name)))
	}
	speed("×16")
	b.press("p")
	b.until(`document.querySelector(".time header").innerText.includes("event 823 of 823")`)
	b.until(`document.querySelector(".head button").innerText === "Play"`)

	speed("×¼")
	b.press("p") // at the end: from the start again
	b.until(`/event (?!0 |823 )\d+ of/.test(document.querySelector(".time header").innerText)`)
	b.sound()
}

// A recording that begins in the middle of its run is played from there.
func TestPagePlaysFromTheFirstEvent(t *testing.T) {
	b := openTab(t, 1280, 720)
	middle := bytes.ReplaceAll(recording(`"e":"queue.added","i":"work","k":"a"`, `"e":"queue.got","i":"work","k":"a"`), []byte("000000,"), []byte("000000000,"))
	b.show(replayed(t, middle))
	b.press("p")
	b.until(`document.querySelector(".clock").innerText.startsWith("16:4")`)
	b.sound()
}

// The clock runs while nothing happens, and a click on the strip goes to its moment.
func TestPagePlaysThroughQuietTimes(t *testing.T) {
	b := openTab(t, 1280, 720)
	quiet := `{"h":1,"schema":"orrery.trace/1","start":"2026-05-04T10:02:11Z"}
{"s":1,"t":0,"e":"queue.added","i":"work","k":"a"}
{"s":2,"t":3600000000,"e":"queue.got","i":"work","k":"a"}
`
	b.do(chromedp.Navigate(replayed(t, []byte(quiet))))
	b.until(`document.querySelector("main.page")`)
	b.press("p")
	b.until(`document.querySelector(".time header").innerText.includes("event 1 of 2")`)
	b.until(`!document.querySelector(".clock").innerText.startsWith("00:00.0")`)
	b.press("p")
	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const strip = document.querySelector('[role="slider"]'), box = strip.getBoundingClientRect();
		strip.dispatchEvent(new MouseEvent("click", { clientX: box.left + (box.width + 56) / 2, clientY: box.top + 20, bubbles: true }));
	})()`))
	const middle = `/^(29:5|30:0)/.test(document.querySelector(".clock").innerText)`
	b.until(middle)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="queue"] .key').click()`))
	b.until(`document.querySelectorAll(".story .chip").length === 1`)
	assert.True(t, value[bool](b, middle), "a selection moves nothing")
	b.press("[")
	b.until(`document.querySelector(".clock").innerText.startsWith("00:00.000")`)
	b.sound()
}

// What moves the picture ends the playing at once: a tick that is already due does not move it
// back.
func TestPageStopsToPlay(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(replayed(t, machine(t))))
	b.until(`document.querySelector("main.page")`)
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".time button")].find(b => b.innerText === "×¼").click()`))
	b.press("p")
	b.until(`!document.querySelector(".time header").innerText.includes("event 0 of")`)
	after := value[[]string](b, `new Promise(resolve => {
		const asked = [];
		Worker.prototype.postMessage = message => asked.push(message.op); // the answer is late
		window.requestAnimationFrame = () => 0; // the next picture is late
		dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
		setTimeout(() => resolve(asked), 150);
	})`)
	assert.Equal(t, []string{"seek"}, after)
	b.sound()
}

// A filter leaves the events that it names in the story.
func TestPageFilters(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t)))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="queue"] .key').click()`))
	b.until(`document.querySelectorAll(".story .chip").length > 10`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("filter").focus()`))
	b.press("gear==queue && event!=done")
	b.until(`[...document.querySelectorAll(".story .chip")].every(c => /^queue (added|got)/.test(c.innerText))`)
	assert.NotZero(t, value[int](b, `document.querySelectorAll(".story .chip").length`))
	b.sound()
}

func TestPageRespectsReducedMotion(t *testing.T) {
	b := openTab(t, 1280, 720)
	_, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	require.NoError(t, err)
	b.show(replayed(t, machine(t)))
	assert.Equal(t, "0s", value[string](b, `getComputedStyle(document.querySelector(".bar > i")).transitionDuration`))
}

// A live run begins with its state so far, which is no event: the page counts those of the
// recorder.
func TestPageLiveCountsAsTheRecorder(t *testing.T) {
	server, run := live(t)
	b := openTab(t, 1280, 720)
	sequence := func(n int) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelector(".head .figure b")?.innerText === %q`, thousands(n)))
	}
	count := func() int {
		t.Helper()
		return number(t, value[string](b, `document.querySelector(".time header").innerText.match(/event [\d,]+ of ([\d,]+)/)[1]`))
	}
	b.do(chromedp.Navigate(server.URL() + "&lang=en"))
	run.add("a")
	run.add("b")
	sequence(2)
	assert.Equal(t, 2, count())
	b.press(kb.Home)
	sequence(0)

	const more = 40_000 // so many that a page of now begins in the middle
	for n := range uint64(more) {
		run.queue.Coalesced(queue.Event[string]{Key: "a", Seq: n + 3})
	}
	run.Flush()
	b.do(chromedp.Navigate(server.URL() + "&lang=en"))
	sequence(more + 2)
	received := count()
	assert.Less(t, received, more)
	b.press(kb.Home)
	sequence(more + 2 - received)
	assert.Equal(t, []string{"a", "b"}, value[[]string](b, `[...document.querySelectorAll('[data-set="queue"] .key')].map(k => k.title)`))
	b.sound()
}

// Freeze stops the picture and counts what comes; following catches up. When the run ends, the page
// says so and why, and keeps its last state.
func TestPageLiveFreezesAndEnds(t *testing.T) {
	server, run := live(t)
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(server.URL() + "&lang=en"))
	mode := func(text string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelector(".mode")?.innerText === %q`, text))
	}
	queued := func(keys string) {
		t.Helper()
		b.until(fmt.Sprintf(`[...document.querySelectorAll('[data-set="queue"] .key')].map(k => k.title).join(" ") === %q`, keys))
	}
	run.add("a")
	mode("LIVE")
	assert.Equal(t, "--gears fast · test", value[string](b, `document.querySelector(".head .about").title`))
	queued("a")
	b.press(" ")
	mode("FROZEN · 0 events behind")
	run.add("b")
	run.add("c")
	mode("FROZEN · 2 events behind")
	queued("a")
	b.press(" ")
	mode("LIVE")
	queued("a b c")
	b.press(" ")
	mode("FROZEN · 0 events behind")
	b.press("[")
	mode("FROZEN · 1 event behind")
	queued("a b")
	b.press(" ")
	mode("LIVE")
	queued("a b c")
	run.Stop("the scene has ended")
	mode("ENDED")
	assert.Contains(t, value[string](b, `document.querySelector(".head").innerText`), "the scene has ended")
	server.Stop()
	b.press(kb.Home)
	queued("")
	b.press(kb.End)
	queued("a b c")
	mode("ENDED")
	assert.False(t, value[bool](b, `document.querySelector(".notice") !== null`), "an end with a reason is no disconnection")
}

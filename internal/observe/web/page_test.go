package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery"
	"orrery/internal/observe/trace/tracetest"
	"orrery/internal/observe/web"
	"orrery/internal/observe/web/viewtest"
)

// file returns a recording in testdata.
func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".jsonl")
	require.NoError(t, err)
	return text
}

// machine is a recording that ends with a state in which every box has something to show.
func machine(t *testing.T) []byte { return file(t, "machine") }

// replayed returns the address of a page that shows a recording, and knows the sources.
func replayed(t testing.TB, recording []byte, source web.Code) string {
	t.Helper()
	server, err := web.StartView(web.ViewConfig{
		Code:      source,
		Recording: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.URL()
}

// show opens a recording and goes to its end.
func (b *tab) show(address string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(address))
	b.Until(`document.querySelector("main.page")`)
	b.Press(kb.End)
	b.Until(`document.querySelector('[role="slider"]')?.getAttribute("aria-valuenow") === document.querySelector('[role="slider"]')?.getAttribute("aria-valuemax")`)
}

// button clicks the button with that text.
func (b *tab) button(text string) {
	b.T.Helper()
	value[bool](b, fmt.Sprintf(`[...document.querySelectorAll("button")].find(b => b.innerText === %q).click() ?? true`,
		text))
}

// text returns what a box says.
func (b *tab) text(box string) string {
	b.T.Helper()
	return value[string](b, fmt.Sprintf(`document.querySelector('[data-box=%q]').innerText.replace(/\s+/g, " ")`, box))
}

// The page fits the window after each change of its size, language and theme, and every text can be
// read.
func TestPageShowsEveryBox(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t), web.Code{}) + "&lang=en&theme=light")
	for box, words := range map[string][]string{
		"restclient": {"WATCH", "namespaces/status", "✖ 409", "✖ 503"},
		"reflector":  {"Watching", "48190", "410 ×1"},
		"deltafifo":  {"3 keys", "team-b", "A U U †"},
		"indexer":    {"23 objects", "updated", "48188 → 48190", "and 17 more"},
		"informer":   {"controller", "logger", "1,840 waiting"},
		"queue":      {"team-c", "●", "640 ms, failure 7"},
		"workers":    {"2 of 4 busy", "demo content", "idle"},
		"nsctl": {"nsctl · demo", "✔ False DeletionDiscoveryFailure", "? Unknown DeletionContentFailure",
			"… True ContentRemaining", "configmaps 3"},
	} {
		for _, word := range words {
			assert.Contains(t, b.text(box), word, "box %s", box)
		}
	}
	b.story()
	other := map[string]string{"en": "zh-CN", "zh-CN": "en", "light": "dark", "dark": "light"}
	language, theme := "en", "light"
	for _, size := range [][2]int64{{1280, 720}, {1920, 1080}} {
		b.Do(chromedp.EmulateViewport(size[0], size[1]))
		b.Until(fmt.Sprintf(`document.querySelector(".time svg").width.baseVal.value === %d`, size[0]-36))
		for range 2 {
			for range 2 {
				name := fmt.Sprintf("machine-%s-%s-%d", language, theme, size[0])
				assert.Empty(t, value[[]string](b, viewtest.Outside), "%s: nothing is cut off", name)
				assert.Empty(t, value[[]string](b, viewtest.Faint), "%s: the contrast is at least 4.5", name)
				b.Picture(name)
				theme = other[theme]
				b.button("◐")
				b.Until(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
			}
			language = other[language]
			b.button(map[string]string{"en": "English", "zh-CN": "中文"}[language])
			b.Until(fmt.Sprintf(`document.documentElement.lang === %q`, language))
		}
	}
	b.Sound()
}

// The scene one-key at its last coalesced Add: one worker holds the key, which is dirty and in no
// queue, two workers are idle, and the story says in one chip what 99 Adds have done. The picture
// of the README is this one.
func TestPageShowsOneKey(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, file(t, "one-key"), web.Code{}) + "&lang=en&theme=light")
	for range 14 {
		b.Press("[")
	}
	b.at(103)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="workers"] .key').click()`))
	b.Until(`document.querySelectorAll(".story .chip").length === 4`)
	assert.Equal(t, []string{"queue added", "queue got 92 µs", "queue added", "queue coalesced ×99"},
		value[[]string](b, `[...document.querySelectorAll(".story .chip")].map(c => c.innerText)`))
	assert.Contains(t, b.text("story"), "102 events")
	assert.Regexp(t, "101 Adds, 99 coalesced.*queue 0.*dirty 1 team-3 ●.*processing 1 team-3.*"+
		"● Added again during the pass: Done queues it once more", b.text("queue"))
	assert.Regexp(t, "1 of 3 busy.*w2 idle w3 idle", b.text("workers"))
	b.Picture("one-key")
	b.Press(kb.End)
	b.Until(`document.querySelectorAll(".story .chip").length === 7`)
	assert.Equal(t, []string{"queue done", "queue got", "queue done"},
		value[[]string](b,
			`[...document.querySelectorAll(".story .chip")].slice(4).map(c => c.innerText.split(" ").slice(0, 2).join(" "))`))
	b.Sound()
}

// dialog presses keys that open a dialog with these words, and closes it.
func (b *tab) dialog(keys, words string) {
	b.T.Helper()
	b.Press(keys)
	b.Until(fmt.Sprintf(`document.querySelector("dialog")?.innerText.includes(%q)`, words))
	b.closeDialog()
}

// story chooses the first key of the queue.
func (b *tab) story() {
	b.T.Helper()
	value[bool](b, `document.querySelector('[data-box="queue"] .key').click() ?? true`)
	b.Until(`document.querySelectorAll(".story .chip").length > 10`)
}

// at waits until the page shows the moment after this event.
func (b *tab) at(event int) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`document.querySelector(".time header").innerText.includes("event %d of")`, event))
}

// A filter compares the fields of an event. && binds stronger than ||.
func TestFilters(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t), web.Code{}))
	const event = `{ e: "queue.retried", k: "shop/web", n: 7, r: "pods", d: "AUU", gate: "G2" }`
	for _, row := range [][2]string{
		{"", "true"}, {"key==shop/web", "true"}, {"key==web", "true"}, {"key==we", "false"}, {"key!=web", "false"},
		{"key~we", "true"}, {"key<1", "false"}, {`resource == "pods"`, "true"}, {"verb==get", "false"},
		{"gate==G2", "true"}, {"event==retried", "true"}, {"gear==queue && event==done", "false"},
		{"failures>6", "true"}, {"failures>7", "false"}, {"failures<10", "true"}, {"failures==0", "false"},
		{"key==x || key==y && key==web", "false"}, {"key==x && key==web || deltas~A", "true"},
		{"key=a", `after "": NAME == VALUE is expected`}, {"key==a &&", "nothing follows &&"},
		{"k<1", `"k" is not one of key, gear, event, verb, resource, handler, code, deltas, failures, gate`},
	} {
		said := value[string](b, fmt.Sprintf(`import("./filter.js")
			.then(({ parseFilter }) => String(parseFilter(%q)(%s))).catch(error => error.message)`, row[0], event))
		assert.Equal(t, row[1], said, row[0])
	}
}

func TestPageByKeyboardAndButtons(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t), web.Code{}))
	arrow := func(name string, shift bool) func() {
		return func() {
			const press = `dispatchEvent(new KeyboardEvent("keydown", { key: "Arrow%s", shiftKey: %t }))`
			value[bool](b, fmt.Sprintf(press, name, shift))
		}
	}
	press := func(keys string) func() { return func() { b.Press(keys) } }
	for _, step := range []struct {
		move func()
		at   int
	}{
		{press(""), 822}, {press("["), 821}, {press("[["), 819}, {func() { b.button("›") }, 820},
		{func() { b.button("‹") }, 819}, {press("n"), 820}, {press(kb.Home), 0}, {press("]"), 1}, {press("}"), 101},
		{arrow("Right", false), 102}, {arrow("Left", false), 101},
		{arrow("Right", true), 201}, {arrow("Left", true), 101},
	} {
		step.move()
		b.at(step.at)
	}

	for range 40 { // Tab reaches every box
		if value[string](b, `document.activeElement.dataset.box ?? ""`) == "queue" {
			break
		}
		b.Press(kb.Tab)
	}
	const events = "queue.added"
	b.dialog(kb.Enter, events)
	b.dialog(kb.Enter, events) // the box has the focus again
	b.dialog("t", events)
	b.dialog("?", "one event back or on")
	b.button("?")
	b.Until(`document.querySelector("dialog")`)
	b.button("Close")
	b.Until(`!document.querySelector("dialog")`)

	b.Press(kb.End)
	b.at(822)
	b.story()
	b.Press("/")
	b.Until(`document.activeElement.id === "filter"`)
	value[string](b, `document.activeElement.value = ""`) // the tool types the / although the page takes it
	b.Press("gear==queue && event!=done")
	b.Until(`[...document.querySelectorAll(".story .chip")].every(c => /^queue (added|got)/.test(c.innerText))`)
	assert.NotZero(t, value[int](b, `document.querySelectorAll(".story .chip").length`))
	b.Press(" && key=")
	b.Until(`document.activeElement.getAttribute("aria-invalid") === "true"`)
	b.Press(kb.Escape) // leaves the field
	b.Press(kb.Escape)
	b.Until(`document.querySelector(".story .chip") === null`)

	b.Press(kb.Home)
	b.button("×16")
	b.button("Play")
	b.at(822)
	b.Until(`document.querySelector(".head button").innerText === "Play"`)
	b.button("×¼")
	b.Press("p") // at the end: from the start again
	b.Until(`/event (?!0 |822 )\d+ of/.test(document.querySelector(".time header").innerText)`)
	b.Sound()
}

// queued waits until the queue has these keys.
func (b *tab) queued(keys string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`[...document.querySelectorAll('[data-set="queue"] .key')].map(k => k.title).join(" ") === %q`,
		keys))
}

// Freeze stops the picture and counts what comes; following catches up. When the run ends, the page
// says so and why, and keeps its last state.
func TestPageLiveFreezesAndEnds(t *testing.T) {
	server, run := live(t)
	b := openTab(t, 1280, 720)
	b.Do(chromedp.Navigate(server.URL() + "&lang=en"))
	mode := func(text string) {
		t.Helper()
		b.Until(fmt.Sprintf(`document.querySelector(".mode")?.innerText === %q`, text))
	}
	run.add("a")
	mode("LIVE")
	assert.Equal(t, "--gears fast · test", value[string](b, `document.querySelector(".head .about").title`))
	for _, step := range []struct {
		do           func()
		mode, queued string
	}{
		{func() { b.button("Freeze") }, "FROZEN · 0 events behind", "a"},
		{func() { run.add("b"); run.add("c") }, "FROZEN · 2 events behind", "a"},
		{func() { b.button("Follow") }, "LIVE", "a b c"},
		{func() { b.Press(" ") }, "FROZEN · 0 events behind", "a b c"},
		{func() { b.Press("[") }, "FROZEN · 1 event behind", "a b"},
		{func() { b.Press(" ") }, "LIVE", "a b c"},
	} {
		step.do()
		mode(step.mode)
		b.queued(step.queued)
	}
	run.Stop("the scene has ended")
	mode("ENDED")
	assert.Contains(t, b.head(), "the scene has ended")
	server.Stop()
	b.Press(kb.Home)
	b.queued("")
	b.Press(kb.End)
	b.queued("a b c")
	mode("ENDED")
	assert.False(t, value[bool](b, `document.querySelector(".notice") !== null`),
		"an end with a reason is no disconnection")
}

func TestMain(m *testing.M) { viewtest.Main(m) }

// tab is a page of the browser with short names for this package's tests.
type tab struct{ *viewtest.Tab }

func openTab(t testing.TB, width, height int64) *tab {
	t.Helper()
	return &tab{viewtest.Open(t, width, height)}
}

func value[T any](b *tab, expression string) T {
	b.T.Helper()
	return viewtest.Value[T](b.Tab, expression)
}

// A script that others wrote runs with the rights of the page. It is the one that was published, to
// the byte, and whoever replaces it records the hash of the new one.
func TestVendoredScriptsHaveTheirRecordedHash(t *testing.T) {
	recorded, err := os.ReadFile("page/vendor/README.md")
	require.NoError(t, err)
	scripts, err := filepath.Glob("page/vendor/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		require.NoError(t, err)
		line := fmt.Sprintf("    %x  %s\n", sha256.Sum256(data), filepath.Base(script))
		assert.Contains(t, string(recorded), line, "%s is not the file whose hash page/vendor/README.md has", script)
	}
}

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

// One file has the page, the recording and the functions of its gears, and makes no request. A
// recording that is compressed already is not compressed again: the page would not read that.
func TestPageInOneFile(t *testing.T) {
	functions, err := web.Code{Files: orrery.Source}.Find("fast")
	require.NoError(t, err)
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	_, _ = zip.Write(machine(t))
	require.NoError(t, zip.Close())
	file := filepath.Join(t.TempDir(), "one.html")
	b := openTab(t, 1280, 720)
	for _, recording := range [][]byte{machine(t), compressed.Bytes()} {
		require.NoError(t, os.WriteFile(file, web.HTML(recording, functions), 0o600))
		b.show("file://" + filepath.ToSlash(file))
		assert.Contains(t, b.text("queue"), "team-c")
	}
	b.focus("deltafifo")
	place, all := b.code()
	assert.Contains(t, place, "deltafifo/fast/")
	assert.Contains(t, all, "func (f *DeltaFIFO[T])")
	for _, request := range b.Requests() {
		scheme, _, _ := strings.Cut(request, ":")
		assert.Contains(t, []string{"data", "blob", "file"}, scheme, "%.80s", request)
		if scheme == "file" {
			assert.Equal(t, "file://"+filepath.ToSlash(file), request)
		}
	}
	b.Sound()
}

// head is what the first line of the page says.
func (b *tab) head() string { return value[string](b, `document.querySelector(".head").innerText`) }

// When the process has gone without a word, the page keeps its last state and offers to save it.
func TestPageSurvivesItsProcess(t *testing.T) {
	server, run := live(t)
	b := openTab(t, 1280, 720)
	b.Do(chromedp.Navigate(server.URL() + "&lang=en"))
	run.add("a")
	b.queued("a")
	server.Stop()
	b.notice("The process has gone.")
	b.queued("a")
	saved := value[string](b, `new Promise(resolve => {
		const create = URL.createObjectURL;
		URL.createObjectURL = blob => { blob.text().then(resolve); return create.call(URL, blob); };
		[...document.querySelectorAll(".head button")].find(e => e.innerText === "Save recording").click();
	})`)
	_, last, err := tracetest.Read(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, last.Queues["work"].Waiting())
}

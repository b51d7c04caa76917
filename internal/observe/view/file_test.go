package view_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
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

	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/internal/observe/view/viewtest"
)

// One file has the page and the recording, and makes no request.
func TestPageInOneFile(t *testing.T) {
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	_, _ = zip.Write(machine(t))
	require.NoError(t, zip.Close())
	file := filepath.Join(t.TempDir(), "one.html")
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, view.WriteHTML(out, compressed.Bytes(), nil))
	require.NoError(t, out.Close())

	b := openTab(t, 1280, 720)
	b.show("file://" + filepath.ToSlash(file))
	assert.Contains(t, b.text("queue"), "team-c")
	for _, request := range b.Requests() {
		scheme, _, _ := strings.Cut(request, ":")
		assert.Contains(t, []string{"data", "blob", "file"}, scheme, "%.80s", request)
		if scheme == "file" {
			assert.Equal(t, "file://"+filepath.ToSlash(file), request)
		}
	}
	b.sound()
}

// drop drops a file on the page, after the last notice is closed.
func (b *tab) drop(content string) {
	b.T.Helper()
	text, err := json.Marshal(content)
	require.NoError(b.T, err)
	value[bool](b, fmt.Sprintf(`(() => {
		const files = new DataTransfer();
		files.items.add(new File([%s], "x"));
		document.querySelector(".notice")?.querySelector("button").click();
		return dispatchEvent(new DragEvent("drop", { dataTransfer: files }));
	})()`, text))
}

// A file that is no recording leaves what the page showed.
func TestPageRefusesOtherFiles(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, machine(t)))
	for content, answer := range map[string]string{
		"hello":   "This is not a recording",
		"{}\n":    "This is not a recording",
		"":        "The file is empty",
		"[1,2]\n": "This is not a recording",
		`{"h":2,"schema":"orrery.trace/2"}` + "\n": "orrery.trace/2, which is newer",
	} {
		b.drop(content)
		b.until(fmt.Sprintf(`document.querySelector(".notice")?.innerText.includes(%q)`, answer))
		assert.Contains(t, b.text("queue"), "team-c", "after %q", content)
	}
	b.sound()
}

// The page says why the server does not send the recording.
func TestPageSaysThatARecordingIsMissing(t *testing.T) {
	server, err := view.Start(view.Config{Recording: func() (io.ReadCloser, error) { return os.Open("gone.jsonl") }})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(server.URL() + "&lang=en"))
	b.until(`document.querySelector(".notice")?.innerText.includes("gone.jsonl")`)
}

// head is what the first line of the page says.
func (b *tab) head() string { return value[string](b, `document.querySelector(".head").innerText`) }

// A recording may have broken lines; the page says where, and shows the others. What it shows is
// uncertain up to the next state.
func TestPageShowsTheRestOfABrokenRecording(t *testing.T) {
	lines := bytes.Split(bytes.TrimSpace(machine(t)), []byte("\n"))
	state := trace.NewState()
	events := recorded(t)
	for i := range events[:300] {
		state.Apply(&events[i])
	}
	folded, err := json.Marshal(state)
	require.NoError(t, err)
	lines[100] = []byte(`{"s":100,"e":"queue.ad`)
	repaired := fmt.Appendf(nil, `{"s":301,"t":%d,"e":"trace.state","state":%s}`, events[299].Time, folded)
	all := append(append(append([][]byte{}, lines[:301]...), repaired), lines[301:]...)
	cut := append(bytes.Join(all, []byte("\n")), "\n"+`{"s":824,"e":"queue.ad`...)
	b := openTab(t, 1280, 720)
	b.show(replayed(t, cut))
	assert.Contains(t, b.text("queue"), "team-c")
	assert.Contains(t, b.head(), "1 broken line; the first is line 101")
	assert.Empty(t, value[[]string](b, viewtest.Outside))
	uncertain := func() bool { return value[bool](b, `!!document.querySelector(".box.queue header .warn")`) }
	assert.False(t, uncertain(), "a state follows the broken line")
	for n, want := range map[string]bool{"99": false, "100": true, "298": true, "300": false} {
		b.press(kb.Home)
		b.until(`document.querySelector(".time header").innerText.includes("event 0 of")`)
		steps := 0
		fmt.Sscan(n, &steps)
		b.press(strings.Repeat("}", steps/100) + strings.Repeat("]", steps%100))
		b.until(fmt.Sprintf(`document.querySelector(".time header").innerText.includes("event %s of")`, n))
		assert.Equal(t, want, uncertain(), "after event %s", n)
	}
	b.sound()
}

// An event of another version is counted and ignored.
func TestPageCountsUnknownEvents(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, append(machine(t), `{"s":824,"t":99000000,"e":"queue.painted","i":"namespace","k":"a"}`+"\n"...)))
	assert.Contains(t, b.head(), "1 unknown event")
	assert.Equal(t, "queue.painted 1", value[string](b, `[...document.querySelectorAll(".head .lost")].find(e => e.innerText.includes("unknown")).title`))
	assert.Contains(t, b.text("queue"), "team-c")

	known := value[[]string](b, `import("./summary.js").then(m => m.knownEvents)`)
	assert.ElementsMatch(t, append(trace.Names(), "trace.state", "trace.lost", "trace.end"), known)
	b.sound()
}

// A recording that does not end in a whole line was cut by a crash, which is normal.
func TestPageOpensACutRecording(t *testing.T) {
	whole := machine(t)
	b := openTab(t, 1280, 720)
	b.show(replayed(t, whole[:len(whole)/2]))
	assert.NotContains(t, b.head(), "broken")
	assert.Contains(t, b.head(), "no end: cut off")
	assert.Regexp(t, `event [34]\d\d of [34]\d\d`, value[string](b, `document.querySelector(".time header").innerText`))
	b.sound()
}

// When the process has gone without a word, the page keeps its last state and offers to save it.
func TestPageSurvivesItsProcess(t *testing.T) {
	server, run := live(t)
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(server.URL() + "&lang=en"))
	run.add("a")
	b.until(`document.querySelector('[data-set="queue"] .key')?.title === "a"`)
	server.Stop()
	b.until(`document.querySelector(".notice")?.innerText.includes("The process has gone.")`)
	assert.Equal(t, "a", value[string](b, `document.querySelector('[data-set="queue"] .key').title`))
	saved := value[string](b, `new Promise(resolve => {
		const create = URL.createObjectURL;
		URL.createObjectURL = blob => { blob.text().then(resolve); return create.call(URL, blob); };
		[...document.querySelectorAll(".head button")].find(e => e.innerText === "Save recording").click();
	})`)
	report, err := trace.Check(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Empty(t, report.Problems)
	assert.Equal(t, []string{"a"}, report.State.Queues["work"].Queue)
}

// A run that ends in a panic has it as the last line of the page.
func TestPageEndsWithAPanic(t *testing.T) {
	relay := trace.NewRelay(trace.Header{Gears: "textbook", Run: "lab run", Yours: []string{"queue/queue.go"}})
	server, err := view.Start(view.Config{Source: relay})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(server.URL() + "&lang=en"))
	b.until(`document.querySelector("main.page")`)
	assert.Contains(t, b.head(), "yours: queue/queue.go")
	relay.End("panic: lab 08: Queue.Get is yours to write")
	b.until(`document.querySelector(".notice")?.innerText.includes("panic: lab 08: Queue.Get is yours to write")`)
	b.until(`document.querySelector(".mode").innerText === "ENDED"`)
	assert.Contains(t, b.head(), "panic: lab 08: Queue.Get is yours to write")
}

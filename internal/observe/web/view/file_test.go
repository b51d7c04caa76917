package view_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
	"orrery/internal/observe/web/view/places"
	"orrery/internal/observe/web/view/viewtest"
)

// One file has the page, the recording and the functions of its gears, and makes no request.
func TestPageInOneFile(t *testing.T) {
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	_, _ = zip.Write(machine(t))
	require.NoError(t, zip.Close())
	functions, err := places.Source{Files: orrery.Source}.Find("fast")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "one.html")
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, view.WriteHTML(out, compressed.Bytes(), functions))
	require.NoError(t, out.Close())

	b := openTab(t, 1280, 720)
	b.show("file://" + filepath.ToSlash(file))
	assert.Contains(t, b.text("queue"), "team-c")
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
	known := fmt.Appendf(nil, `{"s":301,"t":%d,"e":"trace.state","state":%s}`, events[299].Time, folded)
	all := append(append(append([][]byte{}, lines[:301]...), known), lines[301:]...)
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

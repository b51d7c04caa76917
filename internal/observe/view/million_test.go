package view_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// long returns a recording of n events, at least, in which every object of a large collection changes
// again and again. The state is what it ends with.
func long(t testing.TB, n int) (recording []byte, events int, state *trace.State) {
	t.Helper()
	var text bytes.Buffer
	text.WriteString(`{"h":1,"schema":"orrery.trace/1","start":"2026-05-04T10:02:11Z","clock":"real","run":"orrery run","mode":"cluster","gears":"fast","workers":10,"informers":["namespaces"]}` + "\n")
	seq := 0
	line := func(format string, args ...any) {
		seq++
		fmt.Fprintf(&text, `{"s":%d,"t":%d,`, seq, 60*seq)
		fmt.Fprintf(&text, format, args...)
		text.WriteString("}\n")
	}
	for change := 1; seq < n; change++ {
		key, version := fmt.Sprintf("team-%d", change%3000), 40_000+change
		kind, delta := "update", "U"
		if change <= 3000 {
			kind, delta = "add", "A"
		}
		line(`"e":"reflector.event","i":"namespaces","k":%q,"type":"MODIFIED","rv":"%d"`, key, version)
		line(`"e":"deltafifo.queued","c":[%d],"i":"namespaces","k":%q,"rv":"%d","d":%q,"n":1`, seq-1, key, version, delta)
		line(`"e":"deltafifo.popped","c":[%d],"i":"namespaces","k":%q,"d":%q,"n":1`, seq-1, key, delta)
		line(`"e":"indexer.%sed","c":[%d],"i":"namespaces","k":%q`, strings.TrimSuffix(kind, "e"), seq-1, key)
		line(`"e":"informer.applied","c":[%d],"i":"namespaces","k":%q,"kind":%q,"d":%q,"rv":"%d","num":%d`, seq-1, key, kind, delta, version, change)
		line(`"e":"informer.handlerQueued","c":[%d],"i":"namespaces","h":"controller#1","n":1,"pending":1,"num":%d`, seq-1, change)
		line(`"e":"informer.handlerCalled","c":[%d],"i":"namespaces","k":%q,"h":"controller#1","kind":%q,"num":%d`, seq-1, key, kind, change)
		line(`"e":"queue.added","c":[%d],"i":"namespace","k":%q`, seq-1, key)
		line(`"e":"informer.handled","c":[%d],"i":"namespaces","k":%q,"h":"controller#1","kind":%q,"num":%d,"us":4`, seq-2, key, kind, change)
		line(`"e":"queue.got","c":[%d],"i":"namespace","k":%q,"us":12`, seq-2, key)
		line(`"e":"queue.done","c":[%d],"i":"namespace","k":%q,"us":130`, seq-1, key)
		line(`"e":"deltafifo.processed","c":[%d],"i":"namespaces","k":%q`, seq-9, key)
	}
	report, err := trace.Check(bytes.NewReader(text.Bytes()))
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Zero(t, report.State.Odd)
	return text.Bytes(), seq, report.State
}

// opened opens a recording and waits until it is shown whole.
func (b *tab) opened(address string, events int) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.until(fmt.Sprintf(`document.querySelector(".time header")?.innerText.includes("of %s")`, thousands(events)))
}

// thousands writes a number as the page does.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// A long recording opens, its end is the state that the program folds, and seeking and playing reach
// any event of it.
func TestFileOfManyEvents(t *testing.T) {
	recording, events, state := long(t, 120_000)
	b := openTab(t, 1280, 720)
	b.opened(replayed(t, recording)+"&lang=en", events)
	b.press(kb.End)
	at := func(n int) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelector(".time header").innerText.includes("event %s of")`, thousands(n)))
	}
	at(events)
	queue := state.Queues["namespace"]
	assert.Contains(t, b.text("queue"), thousands(int(queue.Added))+" Adds")
	assert.Contains(t, b.text("indexer"), "3,000 objects")
	b.press("{")
	at(events - 100)
	// Half of the way, to the event in which a worker holds a key.
	half := events / 2 / 12 * 12
	value[bool](b, fmt.Sprintf(`(() => {
		const strip = document.querySelector('[role="slider"]'), box = strip.getBoundingClientRect();
		const x = box.left + 62 + (box.width - 68) * %d / %d;
		return strip.dispatchEvent(new MouseEvent("click", { clientX: x, clientY: box.top + 20, bubbles: true }));
	})()`, half, events))
	b.until(`!document.querySelector(".time header").innerText.includes("event ` + thousands(events-100) + ` of")`)
	before := value[string](b, `document.querySelector(".time header").innerText.match(/event ([\d,]+) of/)[1]`)
	assert.InDelta(t, half, number(t, before), float64(events)/100)
	b.press("p")
	b.until(fmt.Sprintf(`document.querySelector(".time header").innerText.match(/event ([\d,]+) of/)[1] !== %q`, before))
	b.press("p")
	b.press(kb.Home)
	at(0)
	b.sound()
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	require.NoError(t, err)
	return n
}

// The time until the page shows the whole of a million events, and the memory of its process then.
func BenchmarkAMillionEvents(bench *testing.B) {
	recording, events, _ := long(bench, 1_000_000)
	address := replayed(bench, recording) + "&lang=en"
	for bench.Loop() {
		b := openTab(bench, 1280, 720)
		began := time.Now()
		b.opened(address, events)
		bench.ReportMetric(time.Since(began).Seconds(), "s/open")
		bench.ReportMetric(largestRenderer(bench), "MB")
	}
	bench.ReportMetric(float64(len(recording))/1e6, "MB/file")
	bench.ReportMetric(0, "ns/op")
}

// largestRenderer returns the most memory that a page's process has, in megabytes.
func largestRenderer(t testing.TB) (most float64) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range processes {
		command, _ := os.ReadFile(file) // it may have ended
		if !bytes.Contains(command, []byte("--type=renderer")) {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		_, rest, _ := strings.Cut(string(status), "VmRSS:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			kilobytes, _ := strconv.ParseFloat(fields[0], 64)
			most = max(most, kilobytes/1000)
		}
	}
	return most
}

// Wherever a recording is entered, the state is the fold of all events before.
func TestFileSeeks(t *testing.T) {
	recording, events, _ := long(t, 50_000)
	b := openTab(t, 1280, 720)
	b.opened(replayed(t, recording)+"&lang=en", events)
	wrong := value[[]int](b, `(async () => {
		const { Run } = await import("./reader.js"), { apply, empty } = await import("./fold.js");
		const text = await (await fetch("recording" + location.search)).text();
		const run = new Run();
		run.append(text);
		run.finish();
		const wanted = [0, 1, 2, run.count - 1, run.count], wrong = [];
		for (const chunk of run.chunks) wanted.push(chunk.from - 1, chunk.from, chunk.from + 1, chunk.from + chunk.count);
		for (let n = 7; n < run.count; n += 2777) wanted.push(n);
		const all = text.trim().split("\n").slice(1).map(line => JSON.parse(line));
		let state = empty(), folded = 0;
		for (const n of [...new Set(wanted)].filter(n => n >= 0 && n <= run.count).sort((a, b) => a - b)) {
			for (; folded < n; folded++) state = apply(state, all[folded]);
			if (JSON.stringify(run.stateAt(n)) !== JSON.stringify(state)) wrong.push(n);
			if (n > 0 && run.recent(n).at(-1).s !== all[n - 1].s) wrong.push(-n);
		}
		return [run.count === all.length ? run.chunks.length > 3 ? 0 : -1 : run.count, ...wrong];
	})()`)
	assert.Equal(t, []int{0}, wrong, "the first is 0 if the run has all events in several chunks, the others are where the state differs")
	b.sound()
}

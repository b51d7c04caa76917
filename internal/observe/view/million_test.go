package view_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// long returns a recording of n events, at least, in which every object of a large collection
// changes again and again. The state is what it ends with.
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
	b.T.Helper()
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

// A long recording opens, its end is the state that the program folds, and seeking and playing
// reach any event of it.
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

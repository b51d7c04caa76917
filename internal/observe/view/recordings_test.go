package view_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// The strip of time has the passes and the depth of the queue that is shown. A state ends the
// passes whose ends were lost, and begins those whose beginnings were.
func TestPageDrawsThePassesOfAQueue(t *testing.T) {
	events := []trace.Event{
		{Name: "queue.added", In: "one", Key: "a"}, {Name: "queue.added", In: "one", Key: "b"}, {Name: "queue.got", In: "one", Key: "a"},
		{Name: "queue.added", In: "two", Key: "a"}, {Name: "queue.got", In: "two", Key: "a"}, {Name: "queue.done", In: "two", Key: "a"},
	}
	state := trace.NewState()
	for i, e := range []trace.Event{{Name: "queue.coalesced", In: "two", Key: "a"}, {Name: "queue.added", In: "one", Key: "c"}, {Name: "queue.got", In: "one", Key: "c"}} {
		e.Time = int64(6+i) * 1_000_000
		state.Apply(&e)
	}
	var text bytes.Buffer
	text.WriteString(header)
	for i, e := range append(events, trace.Event{Name: "trace.state", State: state}, trace.Event{Name: "queue.got", In: "one", Key: "d"}) {
		e.Seq, e.Time = uint64(i+1), int64(i+1)*1_000_000
		line, err := json.Marshal(e)
		require.NoError(t, err)
		text.Write(append(line, '\n'))
	}
	b := openTab(t, 1280, 720)
	b.show(replayed(t, text.Bytes()) + "&lang=en")
	type pass struct {
		Queue    string `json:"i"`
		Slot     int    `json:"slot"`
		Key      string `json:"k"`
		From, To int
	}
	passes := read[[]pass](b, text.String(), `run.summary.plain().passes`)
	for i := range passes {
		passes[i].From /= 1_000_000
		passes[i].To /= 1_000_000
	}
	assert.Equal(t, []pass{{"one", 0, "a", 3, 7}, {"two", 0, "a", 5, 6}, {"one", 0, "c", 8, 0}, {"one", 1, "d", 8, 0}}, passes)
	depths := read[map[string]int](b, text.String(), `Object.fromEntries(run.summary.plain().depths.entries().map(([queue, bins]) => [queue, Math.max(...bins)]))`)
	assert.Equal(t, map[string]int{"one": 2, "two": 1}, depths)

	const bars = `[...document.querySelectorAll(".time rect title")].map(t => t.textContent).join(", ")`
	assert.Equal(t, "w1 a, w1 c, w2 d", value[string](b, bars))
	b.do(chromedp.Evaluate[chromedp.Void](`(select => { select.value = "two"; select.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select"))`))
	b.until(bars + ` === "w1 a"`)
	b.sound()
}

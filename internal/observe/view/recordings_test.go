package view_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

// recording returns a recording of these events. Each gets its number, and its time in seconds.
func recording(events ...string) []byte {
	text := bytes.NewBufferString(header)
	for i, event := range events {
		fmt.Fprintf(text, `{"s":%d,"t":%d,%s}`+"\n", i+1, (i+1)*1_000_000, event)
	}
	return text.Bytes()
}

// A slot that is too long for its row shows its newest deltas and how many are before them.
func TestPageShowsTheNewestDeltas(t *testing.T) {
	queued := func(letter string) string {
		return fmt.Sprintf(`"e":"deltafifo.queued","i":"namespaces","k":"red","d":%q`, letter)
	}
	events := []string{queued("A")}
	for range 29 {
		events = append(events, queued("U"))
	}
	b := openTab(t, 1280, 720)
	b.show(replayed(t, recording(append(events, queued("D"))...)))
	assert.Contains(t, strings.ReplaceAll(b.text("deltafifo"), " ", ""), "red22+UUUUUUUUD")
	b.sound()
}

// A line that is no event leaves the others, and every box of them works.
func TestPageLeavesOutWhatIsNoEvent(t *testing.T) {
	b := openTab(t, 1280, 720)
	lines := bytes.SplitAfter(recording(`"e":"queue.added","i":"work","k":"a"`, `"e":"queue.added","i":"work","k":"b"`, `"x":0`, `"e":"queue.got","i":"work","k":"a"`), []byte("\n"))
	lines[2] = []byte("null\n")
	b.show(replayed(t, bytes.Join(lines, nil)) + "&lang=en")
	assert.Contains(t, b.head(), "2 broken lines; the first is line 3")
	b.focus("queue")
	b.press("t")
	b.until(`document.querySelector("dialog table")?.innerText.includes("queue.got")`)
	b.sound()
}

// A compressed recording that was cut off is shown up to its end, and has no line that is broken.
func TestPageOpensACutCompressedRecording(t *testing.T) {
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	_, _ = zip.Write(recording(slices.Repeat([]string{`"e":"queue.coalesced","i":"work","k":"a"`}, 20_000)...))
	require.NoError(t, zip.Flush())
	b := openTab(t, 1280, 720)
	for at, events := range map[int]string{compressed.Len(): "20,000", compressed.Len() / 3: `[567],\d\d\d`} {
		b.show(replayed(t, compressed.Bytes()[:at]) + "&lang=en")
		assert.NotContains(t, b.head(), "broken")
		assert.Regexp(t, "event "+events+" of "+events, b.text("time"))
	}
	b.sound()
}

// A key, an event and a queue may have the name of something that every object of the page has.
func TestPageShowsNamesOfItsLanguage(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.show(replayed(t, recording(
		`"e":"queue.added","i":"toString","k":"constructor"`, `"e":"queue.got","i":"toString","k":"constructor"`,
		`"e":"constructor","k":"constructor"`, `"e":"indexer.constructor","i":"valueOf","k":"constructor"`,
	)) + "&lang=en")
	assert.Regexp(t, `workers 1 of 1 busy w1 constructor 2\.0 s$`, b.text("workers"))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[data-box="workers"] .key').click()`))
	b.until(`document.querySelectorAll(".story .chip").length === 4`)
	assert.NotContains(t, b.text("story"), "object")
	assert.NotContains(t, b.text("indexer"), "function")
	assert.NotContains(t, b.text("nsctl"), "constructor")
	assert.Contains(t, b.head(), "2 unknown events")
	b.press("/")
	b.until(`document.activeElement.id === "filter"`)
	b.press("valueOf==1")
	b.until(`document.activeElement.getAttribute("aria-invalid") === "true"`)
	b.sound()
}

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

// The phases of a namespace have the order of a pass, and its conditions that of their names, also
// when a state has sorted them otherwise. What remains is waited for; other conditions are wrong.
func TestPageShowsANamespaceInItsOrder(t *testing.T) {
	events := []string{`"e":"nsctl.passStarted","k":"demo"`}
	for _, phase := range []string{"discovery", "pods", "content", "finalization"} {
		events = append(events, fmt.Sprintf(`"e":"nsctl.phaseDone","k":"demo","phase":%q,"us":1000`, phase))
	}
	for _, name := range []string{"NamespaceFinalizersRemaining", "NamespaceDeletionContentFailure", "NamespaceContentRemaining"} {
		events = append(events, fmt.Sprintf(`"e":"nsctl.conditionsUpdated","k":"demo","type":%q,"status":"True"`, name))
	}
	state := trace.NewState()
	lines := bytes.Split(bytes.TrimSpace(recording(events...)), []byte("\n"))
	for _, line := range lines[1:] {
		var e trace.Event
		require.NoError(t, json.Unmarshal(line, &e))
		state.Apply(&e)
	}
	folded, err := json.Marshal(state)
	require.NoError(t, err)
	b := openTab(t, 1280, 720)
	for name, all := range map[string][]string{
		"events": events, "a state": append(slices.Clone(events), `"e":"trace.state","state":`+string(folded), `"e":"queue.added","i":"work","k":"demo"`),
	} {
		b.show(replayed(t, recording(all...)) + "&lang=en")
		assert.Equal(t, []string{"discovery", "pods", "content", "finalization"},
			value[[]string](b, `[...document.querySelectorAll(".phases > span:not(.quiet)")].map(s => s.innerText.split(" ")[0])`), name)
		assert.Equal(t, []string{"… True ContentRemaining", "✖ True DeletionContentFailure", "… True FinalizersRemaining"},
			value[[]string](b, `[...document.querySelectorAll('[data-box="nsctl"] .row')].map(r => r.innerText.replace(/\s+/g, " ").trim())`), name)
		assert.Contains(t, b.text("nsctl"), "Terminating", name)
	}
	b.sound()
}

// A box is marked as the learner's if the run has a page of the learner's for it, and no other box.
func TestPageMarksTheBoxesOfTheLearner(t *testing.T) {
	b := openTab(t, 1280, 720)
	for yours, boxes := range map[string]string{
		`[]`: "", `["queue/queue.go"]`: "queue", `["informer/reflector/reflector.go","wait/wait.go","informer/processor.go"]`: "reflector informer workers",
	} {
		text := bytes.Replace(recording(`"e":"queue.added","i":"work","k":"a"`), []byte(`"gears"`), []byte(`"yours":`+yours+`,"gears"`), 1)
		b.show(replayed(t, text) + "&lang=en")
		assert.Equal(t, boxes, value[string](b, `[...document.querySelectorAll("[data-yours]")].map(m => m.closest("[data-box]").dataset.box).join(" ")`), yours)
	}
	b.sound()
}

// Few watches have a row each. More have one together, so that the requests can be seen.
func TestPageShowsManyWatchesInOneRow(t *testing.T) {
	b := openTab(t, 1280, 720)
	for watches, rows := range map[int][]string{3: {"WATCH type-0", "WATCH type-1", "WATCH type-2"}, 4: {"WATCH 4 open"}, 30: {"WATCH 30 open"}} {
		var events []string
		for n := range watches {
			events = append(events, fmt.Sprintf(`"e":"restclient.watchOpened","q":%d,"verb":"watch","r":"type-%d"`, n+1, n))
		}
		events = append(events, `"e":"restclient.requestStart","q":100,"verb":"get","r":"pods"`, `"e":"restclient.requestDone","q":100,"code":404`)
		b.show(replayed(t, recording(events...)) + "&lang=en")
		shown := value[[]string](b, `[...document.querySelectorAll('[data-box="restclient"] .row')].map(r => r.innerText.replace(/\s+/g, " ").trim().split(" ").slice(0, 3).join(" "))`)
		require.Len(t, shown, len(rows)+1, "%d watches: %q", watches, shown)
		for i, row := range rows {
			assert.Contains(t, shown[i], row, "%d watches", watches)
		}
		assert.Contains(t, shown[len(rows)], "GET pods", "%d watches", watches)
	}
	b.sound()
}

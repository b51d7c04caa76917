package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/trace/tracetest"
	"orrery/internal/observe/web"
)

const header = `{"h":1,"schema":"orrery.trace/2","start":"2026-05-04T10:02:11Z","gears":"fast"}` + "\n"

// recording returns the lines of a recording of these events, which get their numbers here.
func recording(t *testing.T, events ...trace.Event) string {
	t.Helper()
	var lines strings.Builder
	lines.WriteString(header)
	state := trace.NewState()
	lines.WriteString(stateLine(t, state))
	for i, e := range events {
		e.Seq, e.Time = uint64(i+1), int64(i+1)*1_000_000
		lines.WriteString(eventLine(t, state, e))
		if e.Seq%1000 == 0 {
			lines.WriteString(stateLine(t, state))
		}
	}
	return lines.String()
}

// eventLine returns the line of an event, and applies it.
func eventLine(t *testing.T, state *trace.State, e trace.Event) string {
	t.Helper()
	e.Difference = state.Next(&e)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	return string(text) + "\n"
}

// stateLine returns the line of a whole state.
func stateLine(t *testing.T, state *trace.State) string {
	t.Helper()
	text, err := json.Marshal(state)
	require.NoError(t, err)
	return fmt.Sprintf(`{"s":%d,"t":%d,"state":%s}`+"\n", state.Seq, state.Time, text)
}

// read evaluates an expression over run, which has read a recording, and the page's modules.
func read[T any](b *tab, recording, expression string) T {
	b.T.Helper()
	text, err := json.Marshal(recording)
	require.NoError(b.T, err)
	return value[T](b, fmt.Sprintf(`(async () => {
		const { Run, saved } = await import("./reader.js");
		const run = new Run();
		run.append(%s);
		return %s;
	})()`, text, expression))
}

// The page and the program agree on where a recording is broken. What the page saves is a
// recording, also when it has forgotten how the run began.
func TestPageReadsAsTheProgram(t *testing.T) {
	server, _ := live(t)
	b := openTab(t, 1280, 720)
	b.Do(chromedp.Navigate(server.URL()))

	line := func(n int) string {
		return fmt.Sprintf(`{"s":%d,"t":%d,"e":"queue.added","i":"work","k":"k%d"}`, n, n, n)
	}
	first := recording(t) + line(1) + "\n"
	for wrong, broken := range map[string]bool{
		`null`: true, `{}`: true, `5`: true, `"x"`: true, `[1]`: true, `{"s":2,"t":3`: true,
		`{"s":2,"t":3}`: true, `{"e":"queue.added"}`: true, `{"s":"2","e":"queue.added"}`: true, `{"s":2,"e":5}`: true,
		strings.TrimSpace(header): true, line(2): false, `{"s":2,"t":2,"e":"unknown.hook","x":{}}`: false,
	} {
		text := first + wrong + "\n" + line(3) + "\n"
		_, _, err := tracetest.Read(strings.NewReader(text))
		assert.Equal(t, broken, err != nil, wrong)
		want := map[bool]string{true: "4 1", false: "undefined 3"}[broken]
		assert.Equal(t, want, read[string](b, text, "`${run.problem?.line} ${run.count}`"),
			"where it is broken, and the events before: %s", wrong)
	}
	assert.Equal(t, "event 3 follows event 1", read[string](b, first+line(3)+"\n", `run.problem.reason`))
	for text, want := range map[string]string{
		"null\n{}\n":                           "format null",
		strings.Replace(header, "/2", "/3", 1): "newer orrery.trace/3",
		strings.Replace(header, "/2", "/1", 1): "older orrery.trace/1",
	} {
		text, err := json.Marshal(text)
		require.NoError(t, err)
		refusal := `import("./reader.js").then(({ Run }) => { new Run().append(%s); }).catch(error => error.message)`
		assert.Equal(t, want, value[string](b, fmt.Sprintf(refusal, text)))
	}

	story := func(events ...trace.Event) []string {
		return read[[]string](b, recording(t, events...), "run.story(\"a\", run.count).story.map(e => `${e.s} ${e.e}`)")
	}
	assert.Equal(t, []string{"1 deltafifo.queued", "3 deltafifo.deduplicated", "4 deltafifo.popped"}, story(
		trace.Event{Name: "deltafifo.queued", In: "pods", Key: "a", Deltas: "D"},
		trace.Event{Name: "deltafifo.deduplicated", In: "pods", Key: "a", Deltas: "†"},
		trace.Event{Name: "deltafifo.queued", In: "pods", Key: "a", Deltas: "†"},
		trace.Event{Name: "deltafifo.popped", In: "pods", Key: "a", Deltas: "D"},
	), "a deletion behind another one: the story does not say that it was queued")
	assert.Equal(t, []string{"1 nsctl.passContext", "2 restclient.requestStart", "5 restclient.requestDone"}, story(
		trace.Event{Name: "nsctl.passContext", Key: "a", Pass: "p-1"},
		trace.Event{Name: "restclient.requestStart", Key: "b", Pass: "p-1", Request: 1},
		trace.Event{Name: "restclient.requestStart", Key: "b", Pass: "p-2", Request: 2},
		trace.Event{Name: "queue.added", In: "work", Key: "b", Pass: "p-1"},
		trace.Event{Name: "restclient.requestDone", Request: 1},
		trace.Event{Name: "restclient.requestDone", Request: 2},
	), "a request for another object, but not what names another object without being a request")

	events := make([]trace.Event, 2500)
	for n := range events {
		events[n] = trace.Event{Name: "queue.added", In: "work", Key: fmt.Sprintf("k%d", n)}
	}
	long := recording(t, events...)
	saved := read[string](b, long,
		`(run.chunks.shift(), new Blob([JSON.stringify(run.header) + "\n", ...saved(run)]).text())`)
	kept, last, err := tracetest.Read(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Len(t, kept, 1500, "the first 1,000 are forgotten")
	assert.EqualValues(t, 2500, last.Queues["work"].Total)

	// A seek applies the differences behind one state, and a step forward its own.
	after := func(n int, expression string) int { return read[int](b, long, fmt.Sprintf(expression, n)) }
	for _, n := range []int{0, 1, 999, 1000, 1001, 1700, 2499, 2500} {
		assert.Equal(t, n, after(n, `run.stateAt(%d).queues.work?.total ?? 0`), "the state after event %d", n)
		assert.LessOrEqual(t, after(n, `(run.stateAt(%d), run.merged)`), 1000, "differences for event %d", n)
	}
	assert.Equal(t, 701, read[int](b, long, `(run.stateAt(1700), run.stateAt(1701), run.merged)`))
	assert.Equal(t, []int{0, 1700, -1},
		read[[]int](b, long, `[run.numberAt(0), run.numberOf(1700), run.numberOf(2501)]`))
	b.Sound()
}

// The strip of time has the passes and the depth of the queue that is shown. A state behind skipped
// events ends the passes whose ends were skipped, and begins those whose beginnings were. The page
// shows a broken recording up to its first broken line.
func TestPageDrawsThePassesOfAQueue(t *testing.T) {
	text := recording(t,
		trace.Event{Name: "queue.added", In: "one", Key: "a"}, trace.Event{Name: "queue.added", In: "one", Key: "b"},
		trace.Event{Name: "queue.got", In: "one", Key: "a"}, trace.Event{Name: "queue.added", In: "two", Key: "a"},
		trace.Event{Name: "queue.got", In: "two", Key: "a"}, trace.Event{Name: "queue.done", In: "two", Key: "a"},
	)
	state := trace.NewState()
	for i, e := range []trace.Event{{Name: "queue.coalesced", In: "two", Key: "a"},
		{Name: "queue.added", In: "one", Key: "c"}, {Name: "queue.got", In: "one", Key: "c"}} {
		e.Seq, e.Time = uint64(7+i), int64(7+i)*1_000_000
		state.Apply(&e)
	}
	text += stateLine(t, state)
	text += eventLine(t, state, trace.Event{Seq: 10, Time: 10_000_000, Name: "queue.got", In: "one", Key: "d"}) +
		`{"s":11,"e":"queue.ad` + "\n"

	b := openTab(t, 1280, 720)
	b.show(replayed(t, []byte(text), web.Code{}) + "&lang=en")
	assert.Contains(t, b.head(), "skipped 3")
	assert.Contains(t, b.head(), "line 11 is broken, the recording ends there")
	assert.Equal(t, []string{"one 0 a 3 9", "two 0 a 5 6", "one 0 c 9 0", "one 1 d 10 0"}, read[[]string](b, text,
		"run.summary.plain().passes.map(p => [p.i, p.slot, p.k, p.from / 1e6, (p.to ?? 0) / 1e6].join(` `))"))
	depths := read[map[string]int](b, text,
		`Object.fromEntries(run.summary.plain().depths.entries().map(([queue, bins]) => [queue, Math.max(...bins)]))`)
	assert.Equal(t, map[string]int{"one": 2, "two": 1}, depths)

	const bars = `[...document.querySelectorAll(".time rect title")].map(t => t.textContent).join(", ")`
	assert.Equal(t, "w1 a, w1 c, w2 d", value[string](b, bars))
	b.Do(chromedp.Evaluate[chromedp.Void](`(select => { select.value = "two"; select.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select"))`))
	b.Until(bars + ` === "w1 a"`)
	b.Sound()
}

package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
)

const header = `{"h":1,"schema":"orrery.trace/1","start":"2026-05-04T10:02:11Z","gears":"fast"}` + "\n"

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

// The page and the program agree on which lines are events, and on what is uncertain behind the
// others. What the page saves is a recording, also when it has forgotten how the run began.
func TestPageReadsAsTheProgram(t *testing.T) {
	server, _ := live(t)
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(server.URL()))

	line := func(n int) string {
		return fmt.Sprintf(`{"s":%d,"t":%d,"e":"queue.added","i":"work","k":"k%d"}`, n, n, n)
	}
	const broken = `{"s":2,"t":3`
	folded, err := json.Marshal(trace.NewState())
	require.NoError(t, err)
	state := fmt.Sprintf(`{"s":4,"t":4,"e":"trace.state","state":%s}`, folded)

	for _, wrong := range []string{
		`null`, `{}`, `5`, `"x"`, `[1]`, broken, `{"s":2,"t":3}`, `{"e":"queue.added"}`, `{"s":0,"e":"queue.added"}`, `{"s":2,"e":""}`, `{"s":"2","e":"queue.added"}`,
		`{"s":2,"e":5}`, `{"s":2,"t":"3","e":"queue.added"}`, `{"s":2,"e":"queue.added","k":5}`, strings.TrimSpace(header), state, line(2), `{"s":2,"e":"unknown.hook","x":{}}`, `{"s":2,"t":null,"e":"queue.added"}`,
	} {
		recording := header + line(1) + "\n" + wrong + "\n" + line(3) + "\n"
		var want []int
		_, err := trace.Read(strings.NewReader(recording), func(_ *trace.Event, broken *trace.LineError) error {
			if broken != nil {
				want = append(want, broken.Line)
			}
			return nil
		})
		require.NoError(t, err)
		assert.ElementsMatch(t, want, read[[]int](b, recording, `run.problems.map(p => p.line)`), wrong)
		assert.Equal(t, 3-len(want), read[int](b, recording, `run.count`), wrong)
		assert.Equal(t, 3-len(want), read[int](b, recording, `run.recent(run.count).length`), wrong)
	}
	assert.Equal(t, "format null", value[string](b, `import("./reader.js").then(({ Run }) => { new Run().append("null\n`+"{}"+`\n"); }).catch(error => error.message.split("\n")[0])`))

	lines := []string{line(1), broken, line(3), state, line(5), broken, line(7), line(8)}
	assert.Equal(t, []bool{false, false, true, false, false, true, true},
		read[[]bool](b, header+strings.Join(lines, "\n")+"\n", `Array.from({ length: run.count + 1 }, (_, n) => run.uncertainAt(n))`))

	lines = []string{line(1), line(3), state, line(5), line(8)} // two gaps; a state follows the first
	assert.Equal(t, []bool{false, false, true, false, false, true},
		read[[]bool](b, header+strings.Join(lines, "\n")+"\n", `Array.from({ length: run.count + 1 }, (_, n) => run.uncertainAt(n))`))
	assert.Equal(t, 3, read[int](b, header+strings.Join(lines, "\n")+"\n", `run.missing`))

	lines = []string{ // a deletion behind another one: the story does not say that it was queued
		`{"s":1,"t":1,"e":"deltafifo.queued","i":"pods","k":"a","d":"D","n":1}`, `{"s":2,"t":2,"e":"deltafifo.deduplicated","i":"pods","k":"a","d":"†"}`,
		`{"s":3,"t":2,"e":"deltafifo.queued","i":"pods","k":"a","d":"†","n":1}`, `{"s":4,"t":3,"e":"deltafifo.popped","c":[1,3],"i":"pods","k":"a","d":"D"}`,
	}
	assert.Equal(t, []string{"deltafifo.queued", "deltafifo.deduplicated", "deltafifo.popped"},
		read[[]string](b, header+strings.Join(lines, "\n")+"\n", `run.story("a", run.count).story.map(e => e.e)`))

	lines = []string{ // a request for another object, and what names another object without being a request
		`{"s":1,"t":1,"e":"nsctl.passContext","k":"a","p":"p-1"}`, `{"s":2,"t":2,"e":"restclient.requestStart","k":"b","p":"p-1","q":1}`,
		`{"s":3,"t":3,"e":"restclient.requestStart","k":"b","p":"p-2","q":2}`, `{"s":4,"t":4,"e":"queue.added","k":"b","i":"work","p":"p-1"}`,
		`{"s":5,"t":5,"e":"restclient.requestDone","c":[2],"q":1}`, `{"s":6,"t":6,"e":"restclient.requestDone","c":[3],"q":2}`,
	}
	assert.Equal(t, []int{1, 2, 5}, read[[]int](b, header+strings.Join(lines, "\n")+"\n", `run.story("a", run.count).story.map(e => e.s)`))

	var long bytes.Buffer
	long.WriteString(header)
	for n := range 3 {
		fmt.Fprintf(&long, `{"s":%d,"t":%d,"e":"queue.added","i":"work","k":"k%d","text":%q}`+"\n", n+1, n+1, n, strings.Repeat("x", 1<<20))
	}
	saved := read[string](b, long.String(), `(run.chunks.shift(), new Blob([JSON.stringify(run.header) + "\n", ...saved(run)]).text())`)
	report, err := trace.Check(strings.NewReader(saved))
	require.NoError(t, err)
	assert.Empty(t, report.Problems)
	assert.Equal(t, []string{"k0", "k1", "k2"}, report.State.Queues["work"].Queue)
	_, rest, _ := strings.Cut(saved, "\n")
	assert.True(t, strings.HasPrefix(rest, `{"s":1,"t":1,"e":"trace.state",`), "%.50s", rest)

	known := value[[]string](b, `import("./summary.js").then(m => m.knownEvents)`)
	assert.ElementsMatch(t, append(trace.Names(), "trace.state", "trace.lost", "trace.end"), known)
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

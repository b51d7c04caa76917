package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/demo"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/internal/observe/web/viewtest"
	"orrery/queue"
)

// heldRun is a work queue with gates and two workers, in a server that a page controls.
type heldRun struct {
	queue.ObservableInterface[string]
	server *web.View
	passes chan string // the keys that have passed
}

func held(t *testing.T) *heldRun {
	t.Helper()
	recorder, err := trace.Start(trace.Config{Header: trace.Header{Gears: "fast", Run: "test", Workers: 2}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	gates := demo.NewGates(ctx, recorder)
	r := &heldRun{passes: make(chan string, 100)}
	work := func(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
		return queue.NewRateLimiting(limiter, config)
	}
	r.ObservableInterface = demo.HoldQueue(gates, "work", work)(
		queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
		queue.Config[string]{Trace: recorder.Queue("work")})
	var working sync.WaitGroup
	for range 2 {
		working.Go(func() {
			for key, shutdown := r.Get(); !shutdown; key, shutdown = r.Get() {
				r.passes <- key
				r.Done(key)
			}
		})
	}
	r.server, err = web.StartView(web.ViewConfig{Source: recorder, Control: gates})
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		r.ShutDown()
		working.Wait()
		recorder.Stop("the test is over")
		r.server.Stop()
	})
	return r
}

// await returns when a key has passed, and those before it.
func (r *heldRun) await(key string) {
	for passed := ""; passed != key; {
		passed = <-r.passes
	}
}

// open opens the page of the run, and waits for its gates.
func (r *heldRun) open(t *testing.T, query string) *tab {
	t.Helper()
	b := openTab(t, 1280, 720)
	b.Do(chromedp.Navigate(r.server.URL() + query))
	b.Until(`document.querySelector(".gates")`)
	return b
}

// gates waits until these gates are closed, and the mode is that of a run that is held, or empty.
func (b *tab) gates(closed, mode string) {
	b.T.Helper()
	b.Until(`[...document.querySelectorAll('.gate[aria-pressed="true"]')].map(g => g.dataset.gate).join(" ") === "` +
		closed + `"`)
	b.Until(`(document.querySelector(".mode.held")?.innerText ?? "") === "` + mode + `"`)
}

// notice waits until the page has a notice with these words.
func (b *tab) notice(words string) {
	b.T.Helper()
	b.Until(fmt.Sprintf(`document.querySelector(".notice")?.innerText.includes(%q)`, words))
}

// The page holds the run, steps it and releases it, by the keyboard alone.
func TestGatesByKeyboard(t *testing.T) {
	r := held(t)
	b := r.open(t, "&lang=en&theme=light")
	r.Add("begin")
	r.await("begin")
	assert.Equal(t, "G2 G4", value[string](b,
		`[...document.querySelectorAll(".gate:disabled")].map(g => g.dataset.gate).join(" ")`))
	b.Press("h")
	b.gates("G5", "")
	for _, key := range []string{"a", "b", "c", "d"} {
		r.Add(key)
	}
	b.gates("G5", "HELD at G5: 2 wait")
	assert.Empty(t, value[[]string](b, viewtest.Outside), "nothing is cut off")
	assert.Empty(t, value[[]string](b, viewtest.Faint), "the contrast is at least 4.5")
	b.Picture("held")
	assert.Empty(t, r.passes)
	b.Press("n")
	b.Until(`document.querySelector('[data-box="queue"]').innerText.includes("d")`)
	b.Press("5")
	b.gates("", "")
	b.Press("7")
	b.gates("G7", "")
	r.Add("e")
	b.gates("G7", "HELD at G7: 1 waits")
	r.await("e") // G7 is behind the pass
	b.Press(" ")
	b.Until(`document.querySelector(".mode").innerText.startsWith("FROZEN")`)
	b.Press("h")
	b.gates("", "")
	b.Until(`document.querySelector(".mode").innerText === "LIVE"`) // it has caught up
	b.Press("?")
	b.Until(`document.querySelector("dialog")?.innerText.includes("close or open a gate")`)
	b.Press(kb.Escape)
	b.Sound()

	other := r.open(t, "&lang=zh-CN&theme=dark")
	other.Press("5")
	b.gates("G5", "") // both pages move the same gates
	assert.Empty(t, value[[]string](other, viewtest.Outside), "nothing is cut off")
	other.Sound()
}

// Commands that are wrong are answered, once. A page sends short ones: the server ends the
// connection of one that sends more.
func TestGatesAnswerCommands(t *testing.T) {
	r := held(t)
	page := dial(t, r.server)
	var text []byte
	var err error
	for _, c := range []struct {
		command web.Command
		answer  string
	}{
		{web.Command{Do: "close", Gate: "G8"}, `there is no gate "G8"`},
		{web.Command{Do: "close", Gate: "G5"}, ""},
		{web.Command{Do: "jump"}, `there is no command "jump"`},
	} {
		require.NoError(t, page.WriteJSON(c.command))
		var message struct{ Control *struct{ Error string } }
		for message.Control == nil || message.Control.Error == "" &&
			(c.answer != "" || !strings.Contains(string(text), `"closed":true`)) {
			message.Control = nil
			_, text, err = page.ReadMessage()
			require.NoError(t, err)
			_ = json.Unmarshal(text, &message) // lines of the run are no single document
		}
		assert.Equal(t, c.answer, message.Control.Error, "what a page is told after %+v", c.command)
	}
	require.NoError(t, page.WriteJSON(web.Command{Do: "close", Resource: strings.Repeat("x", 1000)}))
	for err == nil {
		_, _, err = page.ReadMessage()
	}
	assert.True(t, websocket.IsCloseError(err, websocket.CloseMessageTooBig), "%v", err)
}

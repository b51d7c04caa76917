package view_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/view/fork"
	"orrery/internal/observe/view"
	"orrery/internal/observe/view/places"
	"orrery/internal/observe/view/viewtest"
)

// forkable returns the address of a page that shows a recording and can fork it.
func forkable(t *testing.T, recording []byte) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	forks := fork.NewForks(ctx, func() (*fork.Recording, error) { return fork.Read(bytes.NewReader(recording)) }, places.Source{})
	server, err := view.Start(view.Config{
		Name:      "test",
		Recording: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
		Forks:     forks,
	})
	require.NoError(t, err)
	t.Cleanup(func() { server.Stop(); cancel(); forks.Stop() })
	return server.URL()
}

// The page says in the reader's language why a recording cannot be forked, and pressing the button
// says it again.
func TestForkIsRefusedInThePage(t *testing.T) {
	recording := append(bytes.Clone(recordedWith(t, "one-key")), `{"s":99999,"t":99999999,"e":"apiserver.requestDone","verb":"patch","user":"kubernetes-admin","code":200}`+"\n"...)
	b := viewtest.Open(t, 1280, 720)
	for address, reasons := range map[string][2]string{
		forkable(t, recording): {"No fork: kubernetes-admin wrote to the server", "不能分叉：kubernetes-admin"},
		replayed(t, recording): {"Only lab replay FILE can fork a recording.", "只有 lab replay FILE"},
	} {
		for i, look := range looks[:2] {
			b.Do(chromedp.EmulateViewport(look.width, look.height), chromedp.Navigate(address+"&lang="+look.language+"&theme="+look.theme))
			b.Until(`document.querySelector("button.fork[aria-disabled=true]")`)
			b.Press(kb.End)
			b.Until(fmt.Sprintf(`document.getElementById("fork-refused").innerText.startsWith(%q)`, reasons[i]))
			fits(t, b, "refused")
			b.Picture("fork-refused-" + look.language)
			b.Do(chromedp.Focus("button.fork"))
			b.Press(kb.Enter)
			b.Until(fmt.Sprintf(`document.querySelector("[role=alert].notice")?.innerText.startsWith(%q)`, reasons[i]))
			assert.True(t, viewtest.Value[bool](b, `document.querySelector("dialog") === null`))
		}
	}
	b.Sound()
}

// A reader forks one-key before the hundred updates, with the keyboard only: the page goes live,
// and G7 holds the key. A step there lets it through.
func TestForkInThePage(t *testing.T) {
	recording := recordedWith(t, "one-key")
	lines := parsed(t, recording)
	b := viewtest.Open(t, 1280, 720)
	for _, look := range looks[:2] {
		b.Do(chromedp.EmulateViewport(look.width, look.height), chromedp.Navigate(forkable(t, recording)+"&lang="+look.language+"&theme="+look.theme))
		b.Until(`document.querySelector("button.fork[aria-disabled=true]")`)
		assert.NotEmpty(t, viewtest.Value[string](b, `document.getElementById("fork-refused").innerText`), "it says why")
		fits(t, b, "no input yet")
		goTo(b, find(lines, "lab.held")+1)
		b.Until(`document.querySelector("button.fork[aria-disabled=false]")`)
		fits(t, b, "fork")
		b.Press("p")
		b.Until(`document.querySelector('.head button[aria-pressed="true"]')`)
		b.Press("f")
		b.Until(`document.querySelector("dialog .start") && document.querySelector('.head button[aria-pressed="false"]')`) // what is chosen stays
		assert.Contains(t, viewtest.Value[string](b, `document.querySelector("dialog").innerText`), "start-plain --workers=3")
		b.Picture("fork-" + look.language)
		b.Do(chromedp.Focus(".start"))
		b.PressAndLeave(kb.Enter)
		b.Until(`document.querySelector(".mode.live") && document.querySelector('[data-box="workers"]')?.innerText.includes("w1")`)
		assert.Contains(t, viewtest.Value[string](b, `document.querySelector(".head").innerText`), "lab replay --fork 4")
		b.Until(`document.querySelector(".mode.held")?.innerText.includes("G7")`)
		b.Until(`document.querySelector(".notice.same")`)
		fits(t, b, "forked")
		b.Picture("forked-" + look.language)
		b.Press("n")
		b.Until(`!document.querySelector(".mode.held")`)
		b.Do(chromedp.Focus(".original"))
		b.PressAndLeave(kb.Enter)
		b.Until(`document.querySelector(".mode.replay")`)
		b.Sound()
	}
}

// A fork that fails says why in the page, in full; one that differs says in what.
func TestForkSaysHowItEnded(t *testing.T) {
	r, err := fork.Read(strings.NewReader(`{"h":1,"schema":"orrery.trace/1","clock":"real","mode":"lab","scene":"one-key","gears":"fast"}
{"s":1,"t":1,"e":"lab.input","name":"create-namespace"}
{"s":2,"t":2,"e":"lab.input","name":"start-plain","args":"--workers=1"}
{"s":3,"t":3,"e":"lab.input","name":"create-configmap","args":"red"}
{"s":4,"t":4,"e":"trace.end","reason":"the scene has ended"}
`))
	require.NoError(t, err)
	b := viewtest.Open(t, 1280, 720)
	for want, without := range map[string]int{
		`input 3 (create-configmap red) cannot be done without input 1: namespaces "shop" not found`: 1,
		"store configmaps: +shop/red": 0,
	} {
		live, err := r.Live(t.Context(), len(r.Inputs), without, view.Start, func(fork.Input, fork.Result) {})
		require.NoError(t, err)
		b.Do(chromedp.Navigate(live.URL() + "&lang=en"))
		b.Until(fmt.Sprintf(`document.querySelector(".notice.forked pre")?.innerText.includes(%q)`, want))
		b.Picture(fmt.Sprint("forked-without-", without))
		b.Sound()
		live.Stop()
	}
}

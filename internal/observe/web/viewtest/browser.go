// Package viewtest opens the view's page in Chromium, for tests.
//
// # Concept
//
// A [Tab] is a page in a browser that all tests of a package share. It presses keys and reads what
// the page says, as a user does, and notices every error and request of the page.
package viewtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The tests share one browser, which the first of them starts.
var shared struct {
	once   sync.Once
	ctx    context.Context
	cancel []context.CancelFunc
	err    error
}

// Main runs the tests of a package and then ends the browser.
func Main(m *testing.M) {
	code := m.Run()
	for _, cancel := range shared.cancel {
		cancel()
	}
	os.Exit(code)
}

// The times in which the browser has to answer, and a page has to reach what a test waits for. Only
// a failure gets there.
const (
	browserTimeout = 4 * time.Minute
	pageTimeout    = time.Minute
)

// Tab is a page of the browser. It records what went wrong in the page and which requests it made.
type Tab struct {
	T   testing.TB
	Ctx context.Context

	mu       sync.Mutex
	problems []string // guarded by mu
	requests []string // guarded by mu
}

// Open opens an empty tab of that size.
func Open(t testing.TB, width, height int64) *Tab {
	t.Helper()
	program := chromium(t)
	shared.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.WSURLReadTimeout(browserTimeout),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
			chromedp.Flag("lang", "en-US"))
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancelBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
		shared.ctx, shared.cancel = ctx, []context.CancelFunc{cancelBrowser, cancel}
		shared.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	})
	require.NoError(t, shared.err)
	ctx, cancel := chromedp.NewContext(shared.ctx)
	ctx, cancelTimeout := context.WithTimeout(ctx, browserTimeout)
	t.Cleanup(func() { cancelTimeout(); cancel() })
	b := &Tab{T: t, Ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	b.Do(chromedp.EmulateViewport(width, height))
	return b
}

// chromium returns the browser's program. In CI there must be one.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "Chromium is missing: apt-get install chromium"
	if os.Getenv("LINT_STRICT") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

func (b *Tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.problems = append(b.problems, text)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.problems = append(b.problems, fmt.Sprintf("%s %v", e.Type, e.Args))
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// Do runs the steps one after the other.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	act(b, chromedp.Steps(steps...))
}

// act returns the result of an action.
func act[T any](b *Tab, action chromedp.Action[T]) T {
	b.T.Helper()
	result, err := chromedp.Run(b.Ctx, action)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.T.Fatalf("%v\nproblems: %q", err, b.problems)
	}
	return result
}

// replaced is the browser's error for a page that another one has replaced meanwhile.
const replaced = "Cannot find context with specified id"

// Until waits until an expression in the page is true.
func (b *Tab) Until(expression string) {
	b.T.Helper()
	poll := chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(20*time.Millisecond),
		chromedp.WithPollingTimeout(pageTimeout))
	_, err := chromedp.Run(b.Ctx, poll)
	for err != nil && strings.Contains(err.Error(), replaced) {
		_, err = chromedp.Run(b.Ctx, poll)
	}
	if err != nil {
		text := Value[string](b, `document.body.innerText`)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.T.Fatalf("waiting for %s: %v\nproblems: %q\nthe page says: %s", expression, err, b.problems, text)
	}
}

// Value returns the value of an expression in the page, which may be a promise.
func Value[T any](b *Tab, expression string) T {
	b.T.Helper()
	return act(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Press presses keys, as a user does.
func (b *Tab) Press(keys string) {
	b.T.Helper()
	b.Do(chromedp.KeyEvent(keys))
}

// Picture writes what the tab shows to build/view/NAME.png of the repository.
func (b *Tab) Picture(name string) {
	b.T.Helper()
	dir := filepath.Join("..", "..", "..", "build", "view")
	require.NoError(b.T, os.MkdirAll(dir, 0o755))
	require.NoError(b.T, os.WriteFile(filepath.Join(dir, name+".png"), act(b, chromedp.CaptureScreenshot()), 0o644))
}

// Sound fails the test if the page reported a problem.
func (b *Tab) Sound() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.T, b.problems)
}

// Requests returns the addresses that the page has asked for.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Outside returns what does not fit: the page, a box whose rows are higher than it, a heading.
const Outside = `[
	document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth ? "the page scrolls" : "",
	...[...document.querySelectorAll(".box")].map(b => b.getBoundingClientRect()).map(r => r.bottom > innerHeight || r.right > innerWidth ? "a box is outside" : ""),
	...[...document.querySelectorAll(".row1 .body, .row2 .body")].map(b => b.scrollHeight > b.clientHeight + 1 ? b.parentElement.className + " is too high: " + b.scrollHeight + " > " + b.clientHeight : ""),
	...[...document.querySelectorAll(".guide, .guide > div")].map(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().bottom > e.closest(".guide").getBoundingClientRect().bottom ? "the guide is too full: " + e.innerText : ""),
	...[...document.querySelectorAll("h2, .head button, .time button")].map(e => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth ? e.innerText + " is too wide" : ""),
].filter(x => x)`

// Faint returns the texts with a contrast of less than 4.5 on their ground.
const Faint = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = c => { const [r, g, b] = c.map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
	const found = new Set();
	const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (let node; node = texts.nextNode();) {
		const e = node.parentElement;
		if (!node.data.trim() || e.closest("title, .dim") || !e.getClientRects().length) continue;
		const style = getComputedStyle(e), ink = rgb(e.closest("svg") ? style.fill : style.color).slice(0, 3);
		const [a, b] = [light(ink), light(ground(e).slice(0, 3))].sort((x, y) => y - x);
		const contrast = (a + 0.05) / (b + 0.05);
		if (contrast < 4.5) found.add(node.data.trim() + " " + contrast.toFixed(2));
	}
	return [...found];
})()`

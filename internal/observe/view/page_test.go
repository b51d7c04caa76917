package view_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/view"
)

// replayed returns the address of a page that shows a recording.
func replayed(t *testing.T, recording []byte) string {
	t.Helper()
	server, err := view.Start(view.Config{
		Name:      "test",
		Recording: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
	})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.URL()
}

func machine(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/machine.jsonl")
	require.NoError(t, err)
	return text
}

func TestPageShowsARecording(t *testing.T) {
	b := openTab(t, 1280, 720)
	b.do(chromedp.Navigate(replayed(t, machine(t))))
	b.until(`document.querySelector(".head")`)
	b.press(kb.End)
	b.until(`document.querySelector('[data-box="queue"]').innerText.includes("team-c")`)
	b.picture("machine-light")
	b.sound()
}

package view_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

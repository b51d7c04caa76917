package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// recording returns a recording of these events. Each gets its number, and its time in seconds.
func recording(events ...string) []byte {
	text := `{"h":1,"schema":"orrery.trace/1","start":"2026-05-04T10:02:11Z","gears":"fast"}` + "\n"
	for i, event := range events {
		text += fmt.Sprintf(`{"s":%d,"t":%d,%s}`, i+1, (i+1)*1_000_000, event) + "\n"
	}
	return []byte(text)
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

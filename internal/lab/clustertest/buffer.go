package clustertest

import (
	"slices"
	"strings"
	"sync"
)

// Buffer is a writer that may be read at any time, from any goroutine.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (b *Buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Count returns how often a text was written.
func (b *Buffer) Count(text string) int { return strings.Count(b.String(), text) }

// Lines returns the lines of a log that contain all of the texts, without their time.
func (b *Buffer) Lines(texts ...string) (lines []string) {
	for line := range strings.Lines(b.String()) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			_, line, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			lines = append(lines, line)
		}
	}
	return lines
}

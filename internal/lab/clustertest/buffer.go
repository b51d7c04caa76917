package clustertest

import (
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

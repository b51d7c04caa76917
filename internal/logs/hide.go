package logs

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// secrets are texts that no line may have. Whoever comes by one, such as a token that a plugin has printed, tells it; it is
// taken out of every line that is written from then on, wherever it got there from. That is the last of several nets: errors
// and what a server says have been looked through before.
type secrets struct {
	known atomic.Pointer[[][]byte]

	mu sync.Mutex // held while known is replaced
}

// manySecrets: of tokens that are renewed, so many are remembered.
const manySecrets = 16

// shortestSecret: what is shorter is not looked for, or it would be found in every other word.
const shortestSecret = 6

// Hide takes a secret out of all lines to come. It may be called again and again with the same one.
func (l *Logger) Hide(secret string) { l.secrets.add(secret) }

func (s *secrets) add(secret string) {
	if len(secret) < shortestSecret || s.has(secret) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has(secret) {
		return
	}
	known := append(slices.Clone(s.all()), []byte(secret))
	known = known[max(0, len(known)-manySecrets):]
	s.known.Store(&known)
}

func (s *secrets) all() [][]byte {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (s *secrets) has(secret string) bool {
	return slices.ContainsFunc(s.all(), func(known []byte) bool { return string(known) == secret })
}

// hider is a writer of lines without secrets.
type hider struct {
	io.Writer
	secrets *secrets
}

func (h hider) Write(line []byte) (int, error) {
	shown := line
	for _, secret := range h.secrets.all() {
		if bytes.Contains(shown, secret) {
			shown = bytes.ReplaceAll(shown, secret, []byte("[redacted]"))
		}
	}
	if _, err := h.Writer.Write(shown); err != nil {
		return 0, err
	}
	return len(line), nil
}

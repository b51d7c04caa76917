package fast

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/restclienttest"
)

// A watch runs for minutes and holds one buffer: it must not keep the large one after a large
// event.
func TestStreamGivesLargeBuffersUp(t *testing.T) {
	s := newStream(strings.NewReader(`"`+strings.Repeat("x", 1<<20)+`" "y"`), 2<<20, "a value")
	_, err := s.value()
	require.NoError(t, err)
	require.Greater(t, len(s.buf), largeBuffer)
	_, err = s.value()
	require.NoError(t, err)
	_, err = s.peek()
	require.Equal(t, io.EOF, err)

	r, w := io.Pipe()
	s = newStream(r, 2<<20, "a value")
	go func() {
		io.WriteString(w, `"`+strings.Repeat("x", 1<<20)+`"`)
		io.WriteString(w, `"y"`)
		w.Close()
	}()
	for range 2 {
		_, err = s.value()
		require.NoError(t, err)
	}
	assert.Equal(t, firstBuffer, len(s.buf))
}

// Escapes in long strings (a file in a ConfigMap) must not make the search quadratic, which takes
// minutes.
func TestStreamScansEscapesOnce(t *testing.T) {
	text := `"` + strings.Repeat(`line\n`, 1<<20) + `"`
	s := newStream(strings.NewReader(text), 16<<20, "a value")
	got, err := s.value()
	require.NoError(t, err)
	assert.Len(t, got, len(text))
}

type pieceReader struct {
	text string
	size int
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p, r.text[:min(r.size, len(r.text))])
	r.text = r.text[n:]
	return n, nil
}

func TestContract(t *testing.T) { restclienttest.RunEvents(t, Codec{}.Events) }

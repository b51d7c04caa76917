package fast

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/restclienttest"
)

// readers are ways for the same bytes to arrive.
var readers = map[string]func(string) io.Reader{
	"at once":       func(s string) io.Reader { return strings.NewReader(s) },
	"byte by byte":  func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) },
	"in halves":     func(s string) io.Reader { return iotest.HalfReader(strings.NewReader(s)) },
	"end with data": func(s string) io.Reader { return iotest.DataErrReader(strings.NewReader(s)) },
}

func TestStreamBoundsValues(t *testing.T) {
	largest := `"` + strings.Repeat("x", 4998) + `"`
	value, err := newStream(strings.NewReader(largest), 5000, "a watch event").value()
	require.NoError(t, err, "the bound itself is allowed")
	assert.Equal(t, largest, string(value))
	for _, big := range []string{
		`"` + strings.Repeat("x", 10_000) + `"`,
		`{"a":` + strings.Repeat("[", 10_000),
		strings.Repeat("1", 10_000),
	} {
		for name, reader := range readers {
			s := newStream(reader(`{"small":1}`+big), 5000, "a watch event")
			_, err := s.value()
			require.NoError(t, err)
			_, err = s.value()
			var large *restclient.TooLargeError
			require.ErrorAs(t, err, &large, name)
			assert.Equal(t, restclient.TooLargeError{What: "a watch event", Limit: 5000}, *large)
			assert.LessOrEqual(t, len(s.buf), 4*5000, "the buffer must not grow with the stream")
		}
	}
}

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

func TestStreamDistinguishesConnectionErrors(t *testing.T) {
	reset := errors.New("connection reset")
	s := newStream(io.MultiReader(strings.NewReader(`{"a":1} {"b"`), iotest.ErrReader(reset)), 100, "a value")
	got, err := s.value()
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(got))
	for range 2 { // the error stays
		_, err = s.value()
		assert.ErrorIs(t, err, reset)
	}
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

package fast

import (
	"encoding/json"
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

func TestStreamCutsValues(t *testing.T) {
	values := []string{
		`{}`, `[]`, `""`, `0`, `-1.5e3`, `true`, `null`,
		`{"a":{"b":["}","]","\"}","\\"]}}`,
		`"a \\\" b"`, `"\\"`, `"` + strings.Repeat(`x\n`, 9000) + `"`,
		`{"long":"` + strings.Repeat("y", 20000) + `"}`,
		`[1,[2,[3,{"a":[{}]}]]]`,
	}
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			s := newStream(reader(" \n"+strings.Join(values, "\r\n\t ")+"\n"), 1<<20, "a value")
			for _, want := range values {
				got, err := s.value()
				require.NoError(t, err)
				assert.Equal(t, want, string(got))
			}
			assert.NoError(t, s.finish())
			_, err := s.peek()
			assert.Equal(t, io.EOF, err)
		})
	}
}

func TestStreamCountsBytes(t *testing.T) {
	text := strings.Repeat(`{"a":"`+strings.Repeat("b", 1000)+`"}`, 20)
	s := newStream(strings.NewReader(text), 1<<20, "a value")
	for i := range 20 {
		_, err := s.value()
		require.NoError(t, err)
		assert.EqualValues(t, (i+1)*len(text)/20, s.offset(), "the bytes up to the end of value %d", i)
	}
}

func TestStreamParsesWhatIsBetweenValues(t *testing.T) {
	for name, reader := range readers {
		s := newStream(reader(` { "first" : 1 , "`+strings.Repeat("k", 5000)+`":{}} `), 1<<20, "a value")
		require.NoError(t, s.parse(func(c *cursor) error { return c.expect('{') }))
		var names []string
		for first := true; ; first = false {
			more := false
			require.NoError(t, s.parse(func(c *cursor) error {
				field, ok, err := c.field(first)
				if more = ok; err == nil && ok {
					names = append(names, string(field))
				}
				return err
			}))
			if !more {
				break
			}
			_, err := s.value()
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"first", strings.Repeat("k", 5000)}, names, name)
		assert.NoError(t, s.finish())
	}
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
	_, err = newStream(noProgress{}, 100, "a value").peek()
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

type noProgress struct{}

func (noProgress) Read([]byte) (int, error) { return 0, nil }

// Escapes in long strings (a file in a ConfigMap) must not make the search quadratic, which takes
// minutes.
func TestStreamScansEscapesOnce(t *testing.T) {
	text := `"` + strings.Repeat(`line\n`, 1<<20) + `"`
	s := newStream(strings.NewReader(text), 16<<20, "a value")
	got, err := s.value()
	require.NoError(t, err)
	assert.Len(t, got, len(text))
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x\"",{}]}`, `"\\"`, `12`, `[}`, `{"a":1}{"b":2}`, ` null `, `tru`, `"\u00e9"`} {
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		whole := newStream(strings.NewReader(text), 1<<20, "a value")
		pieces := newStream(&pieceReader{text, int(piece%7) + 1}, 1<<20, "a value")
		reference := json.NewDecoder(strings.NewReader(text))
		for range 10 {
			a, errA := whole.value()
			b, errB := pieces.value()
			if (errA == nil) != (errB == nil) || string(a) != string(b) {
				t.Fatalf("%q, %v at once, but %q, %v in pieces", a, errA, b, errB)
			}
			var want json.RawMessage
			if err := reference.Decode(&want); err != nil {
				return // the rest is not JSON, which the decoder of the value reports
			}
			if errA == nil && len(a) > len(want) && strings.HasPrefix(string(a), string(want)) && !strings.ContainsAny(string(want[0]), `{["`) {
				return // "00" is two numbers to encoding/json; here it is one value, which is no number
			}
			if errA != nil || string(a) != string(want) {
				t.Fatalf("%q, %v; encoding/json finds %q", a, errA, want)
			}
		}
	})
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

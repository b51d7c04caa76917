package chaos

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// event is a watch event, in any framing.
type event struct{ kind, name string }

func (e event) json() []byte {
	return fmt.Appendf(nil, `{"type":%q,"object":{"metadata":{"name":%q}}}`+"\n", e.kind, e.name)
}

func (e event) protobuf() []byte {
	message := append([]byte{0x0a, byte(len(e.kind))}, e.kind...)
	message = append(append(message, 0x12, byte(len(e.name))), e.name...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

func (e event) socket() []byte {
	payload := e.json()
	switch n := len(payload); {
	case n < 126:
		return append([]byte{0x81, byte(n)}, payload...)
	default:
		return append(binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(n)), payload...)
	}
}

// framings are the three framings with their writers.
var framings = map[string]struct {
	framing framing
	write   func(event) []byte
}{
	"json":      {framingOf("application/json"), event.json},
	"protobuf":  {framingOf("application/vnd.kubernetes.protobuf;stream=watch"), event.protobuf},
	"websocket": {socket, event.socket},
}

// story returns seven changes with bookmarks among them.
func story() (events []event) {
	for i := range 7 {
		events = append(events, event{"MODIFIED", fmt.Sprintf("o%d", i)})
		if i%3 == 2 {
			events = append(events, event{"BOOKMARK", "b"})
		}
	}
	return append(events, event{"DELETED", strings.Repeat("long", 50)})
}

// through returns a stream's output and its error.
func through(t *testing.T, name string, set func(*streamFaults)) (names []string, err error) {
	t.Helper()
	f := framings[name]
	var wire bytes.Buffer
	for _, e := range story() {
		wire.Write(f.write(e))
	}
	faults := newHTTPFaults(1)
	faults.change(func(f *httpFaults) { set(&f.stream) })
	out, err := io.ReadAll(newRewrittenStream(io.NopCloser(&wire), f.framing, name == "websocket", faults))
	in := bufio.NewReader(bytes.NewReader(out))
	for {
		frame, failed := f.framing.read(in)
		if failed != nil {
			if failed != io.EOF {
				err = errors.Join(err, failed)
			}
			return names, err
		}
		for _, e := range story() {
			if bytes.Equal(frame, f.write(e)) {
				names = append(names, e.name[:min(2, len(e.name))])
				break
			}
		}
	}
}

func TestStreamsAreRewritten(t *testing.T) {
	for name := range framings {
		t.Run(name, func(t *testing.T) {
			names, err := through(t, name, func(*streamFaults) {})
			require.NoError(t, err)
			assert.Equal(t, []string{"o0", "o1", "o2", "b", "o3", "o4", "o5", "b", "o6", "lo"}, names, "without a fault nothing changes")

			names, err = through(t, name, func(f *streamFaults) { f.withholdBookmarks = true })
			require.NoError(t, err)
			assert.Equal(t, []string{"o0", "o1", "o2", "o3", "o4", "o5", "o6", "lo"}, names)

			names, err = through(t, name, func(f *streamFaults) { f.duplicateEvery = 4 })
			require.NoError(t, err)
			assert.Equal(t, []string{"o0", "o1", "o2", "b", "o3", "o3", "o4", "o5", "b", "o6", "lo", "lo"}, names)

			names, err = through(t, name, func(f *streamFaults) { f.endAfter = 2 })
			require.NoError(t, err, "in good order")
			assert.Equal(t, []string{"o0", "o1"}, names)

			names, err = through(t, name, func(f *streamFaults) { f.breakAfter = 2 })
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Equal(t, []string{"o0"}, names, "it breaks inside the second")
		})
	}
}

func TestFramesThatAreCut(t *testing.T) {
	for name, f := range framings {
		whole := f.write(event{"ADDED", strings.Repeat("x", 200)})
		for n := 1; n < len(whole); n++ {
			_, err := f.framing.read(bufio.NewReader(bytes.NewReader(whole[:n])))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s after %d bytes", name, n)
		}
		frame, err := f.framing.read(bufio.NewReader(bytes.NewReader(whole)))
		require.NoError(t, err, name)
		assert.Equal(t, whole, frame, name)
	}
}

func TestRefusals(t *testing.T) {
	faults := newHTTPFaults(1)
	faults.change(func(f *httpFaults) {
		f.refuse, f.refuseShare = refusal{code: http.StatusTooManyRequests, retryAfter: 3}, 1
	})
	got, refused := faults.refusal()
	require.True(t, refused)
	assert.Equal(t, refusal{429, 3}, got)
	faults.heal()
	_, refused = faults.refusal()
	assert.False(t, refused)
	assert.Equal(t, 1, faults.struck())
}

package fast

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
)

// The invariants for any body.

// smallLimit is a limit that fuzzed bodies reach.
const smallLimit = 512

// checkBuffer: the memory of a stream is bounded by its limit for any sizes in the body.
func checkBuffer(t *testing.T, s *stream) {
	t.Helper()
	require.LessOrEqual(t, len(s.buf), max(2*firstBuffer, 4*s.limit))
}

// checkError: an error has one of the expected kinds. The end between two values is io.EOF, the
// end inside one is io.ErrUnexpectedEOF; no other error is the end of a body.
func checkError(t *testing.T, err error) {
	t.Helper()
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return
	}
	require.NotErrorIs(t, err, io.EOF)
	require.NotEmpty(t, err.Error())
	require.Less(t, len((&restclient.DecodeError{Err: err}).Error()), 2048+100, "an error does not repeat the body: %v", err)
}

type eventResult struct {
	event event
	size  int
	bad   bool // an error; for a body both invalid and too short, the pieces decide which error comes first
}

// readWatch decodes a body until an error, which is the last result.
func readWatch(t *testing.T, codec restclient.Codec, body io.Reader, limit int) (results []eventResult) {
	t.Helper()
	decoder, err := codec.Events("application/json", body, limit)
	require.NoError(t, err)
	for {
		event, size, err := decoder.Next()
		if d, ok := decoder.(*eventDecoder); ok {
			checkBuffer(t, d.stream)
			require.False(t, err == io.EOF && d.stream.end != d.stream.pos, "the end, and something is left")
		}
		if err != nil {
			checkError(t, err)
			return append(results, eventResult{bad: true})
		}
		require.Positive(t, size)
		results = append(results, eventResult{event: event, size: size})
	}
}

// checkWatch: the result does not depend on the pieces in which a body arrives, and limits hold.
func checkWatch(t *testing.T, codec restclient.Codec, data []byte) {
	t.Helper()
	want := readWatch(t, codec, bytes.NewReader(data), 1<<16)
	require.Equal(t, want, readWatch(t, codec, iotest.OneByteReader(bytes.NewReader(data)), 1<<16))
	require.Equal(t, want, readWatch(t, codec, iotest.DataErrReader(bytes.NewReader(data)), 1<<16))
	// With a lower limit the same events arrive, up to the first that is too long.
	limited := readWatch(t, codec, bytes.NewReader(data), smallLimit)
	last := len(limited) - 1
	require.True(t, limited[last].bad, "a body ends with its end or with an error")
	require.LessOrEqual(t, len(limited), len(want))
	require.Equal(t, want[:last], limited[:last])
}

// checkList: the result does not depend on the pieces in which a list arrives, and limits hold.
func checkList(t *testing.T, codec restclient.Codec, data []byte) {
	t.Helper()
	read := func(body io.Reader, limit int) (list *api.List[*partial], good bool) {
		list, err := codec.List("application/json", body, limit)
		if err == nil {
			return list, true
		}
		require.NotErrorIs(t, err, io.EOF)
		if refused, ok := errors.AsType[*api.StatusError](err); ok {
			require.Equal(t, api.StatusFailure, refused.Status.Status)
		} else {
			checkError(t, err)
		}
		return list, false
	}
	list, good := read(bytes.NewReader(data), 1<<16)
	again, againGood := read(iotest.OneByteReader(bytes.NewReader(data)), 1<<16)
	require.Equal(t, good, againGood, "a list that comes byte by byte is as good as one that comes at once")
	require.Equal(t, list, again, "a list that comes byte by byte is the one that comes at once")
	read(bytes.NewReader(data), smallLimit)
}

// forms are the decoders that are compared.
var forms = map[string]restclient.Codec{"textbook": restclient.PlainCodec(), "fast": Codec{}}

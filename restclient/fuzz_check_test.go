package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// What every body has to bear, whatever is in it.

// smallLimit is a limit that fuzzed bodies reach.
const smallLimit = 512

// checkBuffer: the memory of a stream is bounded by its limit, whatever sizes the body speaks of.
func checkBuffer(t *testing.T, s *stream) {
	t.Helper()
	require.LessOrEqual(t, len(s.buf), max(2*firstBuffer, 4*s.limit))
}

// checkError: an error is of a kind that tells a caller what to do. The end between two values is io.EOF, the end in one is
// a *readError; nothing else is called the end of a body.
func checkError(t *testing.T, err error, s *stream) {
	t.Helper()
	if err == io.EOF {
		require.Equal(t, s.end, s.pos, "the end, and something is left")
		return
	}
	if _, broke := errors.AsType[*readError](err); broke {
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		return
	}
	require.NotErrorIs(t, err, io.EOF)
	require.NotEmpty(t, err.Error())
	require.Less(t, len((&DecodeError{Err: err}).Error()), maxErrorText+100, "an error does not repeat the body: %v", err)
}

type eventResult struct {
	event api.WatchEvent[*api.PartialObjectMetadata]
	size  int
	bad   bool // an error; of a body that is wrong and too short the pieces decide which is noticed
}

// readWatch decodes a body until an error, which is the last result.
func readWatch(t *testing.T, body io.Reader, limit int, protobuf bool) (results []eventResult) {
	t.Helper()
	d := newEventDecoder(body, limit, metadataCodec(false))
	d.protobuf = protobuf
	for {
		event, size, err := d.next()
		checkBuffer(t, d.stream)
		if err != nil {
			checkError(t, err, d.stream)
			return append(results, eventResult{bad: true})
		}
		require.Positive(t, size)
		results = append(results, eventResult{event: event, size: size})
	}
}

// checkWatch: it does not matter in which pieces a body comes, and a limit is a limit.
func checkWatch(t *testing.T, data []byte, protobuf bool) {
	t.Helper()
	want := readWatch(t, bytes.NewReader(data), 1<<16, protobuf)
	require.Equal(t, want, readWatch(t, iotest.OneByteReader(bytes.NewReader(data)), 1<<16, protobuf))
	require.Equal(t, want, readWatch(t, iotest.DataErrReader(bytes.NewReader(data)), 1<<16, protobuf))
	// With a lower limit the same events come, up to the first that is too long.
	limited := readWatch(t, bytes.NewReader(data), smallLimit, protobuf)
	last := len(limited) - 1
	require.True(t, limited[last].bad, "a body ends with its end or with an error")
	require.LessOrEqual(t, len(limited), len(want))
	require.Equal(t, want[:last], limited[:last])
}

// checkOtherEvent compares events without an object with the reference.
func checkOtherEvent(t *testing.T, event api.WatchEvent[*api.PartialObjectMetadata], kind api.WatchEventType, object json.RawMessage) {
	t.Helper()
	switch kind {
	case api.WatchError:
		var want api.Status
		if json.Unmarshal(object, &want) == nil {
			require.Equal(t, &want, event.Status)
		}
	case api.WatchBookmark:
		var want *api.PartialObjectMetadata
		if json.Unmarshal(object, &want) == nil && want != nil && canonical(object) {
			require.Equal(t, want.ResourceVersion, event.ResourceVersion)
			require.Equal(t, api.IsInitialEventsEnd(want.Annotations), event.InitialEventsEnd)
		}
	}
}

// canonical tells whether the names of fields are spelt as servers spell them, and appear once: the reference is laxer.
func canonical(object []byte) bool {
	for _, name := range []string{"metadata", "resourceVersion", "annotations", "k8s.io/initial-events-end"} {
		if bytes.Count(bytes.ToLower(object), bytes.ToLower([]byte(name))) > 1 ||
			bytes.Count(bytes.ToLower(object), bytes.ToLower([]byte(name))) != bytes.Count(object, []byte(`"`+name+`"`)) {
			return false
		}
	}
	return !bytes.ContainsAny(object, "\u017f\u212a")
}

// checkList: it does not matter in which pieces a list comes, and a limit is a limit.
func checkList(t *testing.T, data []byte) {
	t.Helper()
	read := func(body io.Reader, limit int) (l *api.List[*api.PartialObjectMetadata], listed, good bool) {
		list, listed, err := decodeList(body, limit, metadataCodec(false))
		if err == nil {
			return list, listed, true
		}
		require.NotErrorIs(t, err, io.EOF)
		if refused, ok := errors.AsType[*refusedError](err); ok {
			require.Equal(t, api.StatusFailure, refused.status.Status.Status)
		} else {
			require.Less(t, len((&DecodeError{Err: err}).Error()), maxErrorText+100, "an error does not repeat the body: %v", err)
		}
		return list, listed, false
	}
	list, listed, good := read(bytes.NewReader(data), 1<<16)
	again, againListed, againGood := read(iotest.OneByteReader(bytes.NewReader(data)), 1<<16)
	require.Equal(t, good, againGood)
	require.Equal(t, listed, againListed)
	require.Equal(t, list, again)
	read(bytes.NewReader(data), smallLimit)
}

package restclient

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"orrery/restclient/api"
)

// loop is an endless body that repeats itself.
type loop struct {
	data []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.data[l.at:])
	if l.at += n; l.at == len(l.data) {
		l.at = 0
	}
	return n, nil
}

// silentServer answers every request without a network.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
		Request: r}, nil
}

func offline(trace *Trace) *Client {
	c, err := New(Config{Host: "http://x", QPS: -1, Trace: trace,
		WrapTransport: func(http.RoundTripper) http.RoundTripper { return silentServer{} }})
	if err != nil {
		panic(err)
	}
	return c
}

func allHooks() *Trace {
	return &Trace{
		RequestStart: func(RequestInfo) {}, RequestDone: func(RequestInfo, RequestResult) {},
		Finished: func(RequestInfo, RequestResult) {},
		Retry:    func(RequestInfo, time.Duration, error) {}, Throttled: func(RequestInfo, time.Duration) {},
		WatchOpened: func(RequestInfo) {}, WatchFrame: func(RequestInfo, api.WatchEventType, int) {},
		WatchClosed: func(RequestInfo, int64, time.Duration, error) {}, Warning: func(Warning) {},
	}
}

// A request allocates the same without a trace, with nil hooks and with all hooks: hooks take
// their arguments by value.
func TestTraceCostsNoAllocation(t *testing.T) {
	do := func(trace *Trace) float64 {
		c := offline(trace)
		return leastAllocations(func() { c.Do(t.Context(), Request{Path: "/"}, nil) })
	}
	base := do(nil)
	if none, all := do(&Trace{}), do(allHooks()); none > base || all > base {
		t.Errorf("%v allocations without a trace, %v with nil hooks, %v with all hooks", base, none, all)
	}
	frame := []byte(`{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}`)
	next := func(trace *Trace) float64 {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &watcher[*api.PartialObjectMetadata]{client: offline(trace), ctx: ctx, cancel: cancel}
		w.open(PlainCodec(), io.NopCloser(&loop{data: frame}))
		return leastAllocations(func() {
			if _, err := w.Next(); err != nil {
				t.Fatal(err)
			}
		})
	}
	base = next(nil)
	if none, all := next(&Trace{}), next(allHooks()); none > base || all > base {
		t.Errorf("an event: %v allocations without a trace, %v with nil hooks, %v with all hooks", base, none, all)
	}
}

// leastAllocations returns how many allocations f needs if each sync.Pool has what it asks for. The
// race detector empties pools at random.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(1, f)
	for range 200 {
		least = min(least, testing.AllocsPerRun(1, f))
	}
	return least
}

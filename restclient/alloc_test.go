package restclient

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// silentServer answers every request without a network.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
		Request: r}, nil
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
		c, err := New(Config{Host: "http://x", QPS: -1, Trace: trace,
			WrapTransport: func(http.RoundTripper) http.RoundTripper { return silentServer{} }})
		require.NoError(t, err)
		return leastAllocations(func() { c.Do(t.Context(), Request{Path: "/"}, nil) })
	}
	base := do(nil)
	assert.LessOrEqual(t, do(&Trace{}), base, "nil hooks")
	assert.LessOrEqual(t, do(allHooks()), base, "all hooks")
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

package restclient

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"orrery/restclient/api"
)

// podJSON is a pod of about 4 kB, the size that pods of real clusters have.
func podJSON(n int) string {
	var containers []string
	for i := range 4 {
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"registry.example/team/app:v1.2.%d","env":[{"name":"A","value":"%s"}],"resources":{"limits":{"cpu":"1"}}}`, i, i, strings.Repeat("x", 400)))
	}
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-%d","namespace":"default","uid":"0a1b2c3d-%d","resourceVersion":"%d",`+
		`"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web","tier":"front"},"annotations":{"note":"%s"},`+
		`"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}}]},`+
		`"spec":{"terminationGracePeriodSeconds":30,"nodeName":"n1","containers":[%s]},"status":{"phase":"Running","podIP":"10.0.0.1"}}`,
		n, n, n+1, strings.Repeat("y\\n", 200), strings.Join(containers, ","))
}

// loop is a body that repeats itself for ever.
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

func benchmarkWatch[T Object](b *testing.B, codec codec[T]) {
	frame := `{"type":"MODIFIED","object":` + podJSON(7) + "}\n"
	d := newEventDecoder(&loop{data: []byte(frame)}, DefaultMaxFrameBytes, codec)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWatchTyped(b *testing.B)    { benchmarkWatch(b, typedCodec[*api.Pod]()) }
func BenchmarkWatchMetadata(b *testing.B) { benchmarkWatch(b, metadataCodec(false)) }
func BenchmarkWatchDynamic(b *testing.B)  { benchmarkWatch(b, dynamicCodec()) }

// BenchmarkWatchFraming is what finding the events costs, without looking into them.
func BenchmarkWatchFraming(b *testing.B) {
	frame := `{"type":"MODIFIED","object":` + podJSON(7) + "}\n"
	s := newStream(&loop{data: []byte(frame)}, DefaultMaxFrameBytes, "an event")
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.value(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListMetadata(b *testing.B) {
	var items []string
	for n := range 1000 {
		items = append(items, podJSON(n))
	}
	list := []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`)
	b.SetBytes(int64(len(list)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decodeList(bytes.NewReader(list), DefaultMaxFrameBytes, metadataCodec(false)); err != nil {
			b.Fatal(err)
		}
	}
}

// silentServer answers every request without a network.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

func offline(trace *Trace) *Client {
	c, err := New(Config{Host: "http://x", QPS: -1, Trace: trace, WrapTransport: func(http.RoundTripper) http.RoundTripper { return silentServer{} }})
	if err != nil {
		panic(err)
	}
	return c
}

func allHooks() *Trace {
	return &Trace{
		RequestStart: func(RequestInfo) {}, RequestDone: func(RequestInfo, RequestResult) {}, Finished: func(RequestInfo, RequestResult) {},
		Retry: func(RequestInfo, time.Duration, error) {}, Throttled: func(RequestInfo, time.Duration) {},
		WatchOpened: func(RequestInfo) {}, WatchFrame: func(RequestInfo, api.WatchEventType, int) {},
		WatchClosed: func(RequestInfo, int64, time.Duration, error) {}, Warning: func(Warning) {},
	}
}

func BenchmarkDo(b *testing.B) {
	for name, trace := range map[string]*Trace{"nil trace": nil, "nil hooks": {}, "all hooks": allHooks()} {
		b.Run(name, func(b *testing.B) {
			c := offline(trace)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Do(b.Context(), Request{Path: "/"}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A request without a trace allocates nothing more than one with a trace whose hooks are nil, nor than one with all hooks: what hooks
// are given is passed by value.
func TestTraceCostsNoAllocation(t *testing.T) {
	do := func(trace *Trace) float64 {
		c := offline(trace)
		return testing.AllocsPerRun(200, func() { c.Do(t.Context(), Request{Path: "/"}, nil) })
	}
	base := do(nil)
	if none, all := do(&Trace{}), do(allHooks()); none > base || all > base {
		t.Errorf("%v allocations without a trace, %v with nil hooks, %v with all hooks", base, none, all)
	}
	frame := []byte(`{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}`)
	next := func(trace *Trace) float64 {
		w := &watcher[*api.PartialObjectMetadata]{client: offline(trace), decoder: newEventDecoder(&loop{data: frame}, 1<<16, metadataCodec(false))}
		return testing.AllocsPerRun(200, func() {
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

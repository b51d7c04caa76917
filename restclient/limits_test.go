package restclient_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

var widgets = api.GroupVersionResource{Group: "evil.io", Version: "v1", Resource: "widgets"}

// repeat answers with begin, and then with the same text until the client hangs up.
func repeat(contentType, begin, again string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		out := io.Writer(w)
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			out = gzip.NewWriter(w)
		}
		_, err := io.WriteString(out, begin)
		for piece := strings.Repeat(again, 1+64<<10/len(again)); err == nil; {
			_, err = io.WriteString(out, piece)
		}
	}
}

// endlessLists are answers to a list that never end, with what is refused.
var endlessLists = map[string]struct {
	handler http.HandlerFunc
	refused string
}{
	"items": {repeat("application/json", `{"items":[{}`, `,{}`),
		"the list is larger than the limit of 300 items"},
	"long items": {repeat("application/json", `{"items":[{}`, `,{"metadata":{"name":"`+strings.Repeat("x",
		5000)+`"}}`), "the list is larger than the limit of 65536 bytes"},
	"a long item": {repeat("application/json", `{"items":[{"metadata":{"name":"`, `x`),
		"an item of the list is larger than the limit of 16384 bytes"},
	"finalizers": {repeat("application/json", `{"items":[{"metadata":{"finalizers":[""`, `,""`),
		"an item of the list is larger than the limit of 16384 bytes"},
	"fields": {repeat("application/json", `{"kind":"WidgetList"`, `,"a":0`),
		"the list is larger than the limit of 65536 bytes"},
	"a field": {repeat("application/json", `{"kind":"`, `x`),
		"an item of the list is larger than the limit of 16384 bytes"},
	"a name": {repeat("application/json", `{"x`, `x`),
		"an item of the list is larger than the limit of 16384 bytes"},
	"more lists": {repeat("application/json", `{"items":[]`, `,"items":[{"metadata":{}}]`),
		"the list is larger than the limit of 300 items"},
	"white space": {repeat("application/json", `{"items":[{}],`, strings.Repeat(" ", 100)),
		"larger than the limit of"},
	"items, protobuf": {repeat("application/vnd.kubernetes.protobuf",
		"k8s\x00\x0a\x08\x0a\x02v1\x12\x02XL\x12\xff\xff\xff\xff\x07", "\x12\x00"), ""},
}

// A server can answer a list without end. It fills no memory, and the error names what was refused.
func TestEndlessLists(t *testing.T) {
	for name, list := range endlessLists {
		t.Run(name, func(t *testing.T) {
			eachCodec(t, list.handler, func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
				bounded := server.Client(func(cfg *restclient.Config) {
					cfg.Codec = client.Config().Codec
					cfg.MaxFrameBytes, cfg.MaxListBytes, cfg.MaxListItems = 16<<10, 64<<10, 300
					cfg.Trace = &restclient.Trace{Finished: func(_ restclient.RequestInfo, r restclient.RequestResult) {
						assert.Less(t, r.Received, 4*cfg.MaxListBytes, "the limit bounds what is read")
					}}
				})
				_, metadata := restclient.Metadata(bounded, widgets, "doomed").List(t.Context(), api.ListOptions{})
				_, _, deleted := restclient.Metadata(bounded, widgets, "doomed").DeleteCollection(t.Context(),
					api.DeleteOptions{}, api.ListOptions{})
				_, typed := restclient.Typed[*api.Namespace](bounded, widgets, "doomed").List(t.Context(),
					api.ListOptions{})
				_, dynamic := restclient.Dynamic(bounded, widgets, "doomed").List(t.Context(), api.ListOptions{})
				for form, err := range map[string]error{"metadata": metadata, "delete collection": deleted,
					"typed": typed, "dynamic": dynamic} {
					require.ErrorContains(t, err, "/apis/evil.io/v1/namespaces/doomed/widgets",
						"%s: the error names the resource", form)
					var large *restclient.TooLargeError
					if list.refused != "" || errors.As(err, &large) {
						require.ErrorAs(t, err, &large, "%s: an endless list of %s is refused", form, name)
						assert.ErrorContains(t, err, list.refused, "%s: the error names what was too large", form)
					}
				}
				assert.Len(t, server.Requests(), 4, "a list that is too large is not asked for again")
			})
		})
	}
}

// The limits of a list are of one answer, and exact.
func TestTheLimitsOfAListAreExact(t *testing.T) {
	const body = `{"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`
	for _, c := range []struct {
		bytes, items int
		good         bool
	}{{len(body), 2, true}, {len(body) - 1, 2, false}, {len(body), 1, false}, {0, 0, true}} {
		eachCodec(t, says(body), func(t *testing.T, client *restclient.Client, server *restclienttest.Server) {
			pods := podsOf(client.WithListLimits(c.bytes, c.items))
			for range 2 {
				_, err := pods.List(t.Context(), api.ListOptions{})
				assert.Equal(t, c.good, err == nil, "a list of %d bytes and 2 items with the limits %+v: %v",
					len(body), c, err)
			}
		})
	}
}

// drip answers with a byte a second.
func drip(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		for err := error(nil); err == nil; time.Sleep(time.Second) {
			_, err = io.WriteString(w, " ")
			http.NewResponseController(w).Flush()
		}
	}
}

// The headers of an answer are bounded, those of a websocket handshake too.
func TestEndlessHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		pause time.Duration
	}{
		"many":       {strings.Repeat("X-A: b\r\n", 1000), 0},
		"a long one": {strings.Repeat("x", 1000), 0},
		"slow ones":  {"X-A: b\r\n", time.Second},
	} {
		for _, transport := range transports {
			bubble(t, func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					return
				}
				defer conn.Close()
				_, err = fmt.Fprint(conn,
					"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-B: ")
				for ; err == nil; time.Sleep(c.pause) {
					_, err = io.WriteString(conn, c.line)
				}
			}, func(t *testing.T, server *restclienttest.Server) {
				start := time.Now()
				_, err := podsOf(server.Client(over(transport))).Watch(t.Context(), api.ListOptions{})
				require.Error(t, err, "%s, %s: the headers never end", transport, name)
				assert.LessOrEqual(t, time.Since(start), restclient.DefaultSilenceTimeout, "the handshake ends")
				if transport == restclient.WatchWebSocket && c.pause == 0 {
					assert.ErrorAs(t, err, new(*restclient.TooLargeError), "the headers of the handshake are too large")
				}
			})
		}
	}
}

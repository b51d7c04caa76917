package causes_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/causes"
	"orrery/internal/why/collect"
	"orrery/restclient"
)

const (
	largeCount = 100_000
	largeLimit = 64 << 20 // bytes
)

// large answers lists of the namespace's configmaps with 100,000 heads, page by page. It calls
// between before each page.
func large(server http.Handler, between func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/api/v1/namespaces/"+causes.Namespace+"/configmaps" {
			server.ServeHTTP(w, r)
			return
		}
		between()
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		to := min(from+limit, largeCount)
		next := ""
		if to < largeCount {
			next = fmt.Sprintf(`,"continue":"%d","remainingItemCount":%d`, to, largeCount-to)
		}
		var items strings.Builder
		for i := from; i < to; i++ {
			if i > from {
				items.WriteByte(',')
			}
			fmt.Fprintf(&items, `{"metadata":{"name":"configmap-%06d","namespace":"shop","uid":"75d1ba07-c41b-4219-a984-30f0b4%06d","resourceVersion":"%d",
				"creationTimestamp":"2000-01-01T00:00:00Z","labels":{"app":"shop","part":"%d"},"finalizers":["example.com/x"]}}`, i, i, 1000+i, i)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"%s},"items":[%s]}`, next, items.String())
	})
}

// A namespace with 100,000 objects is examined in less than 64 MiB.
func BenchmarkLarge(b *testing.B) {
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, server.Stop(b.Context())) })
	var memory runtime.MemStats
	var before, most uint64
	front := httptest.NewServer(large(server.Handler(), func() {
		runtime.ReadMemStats(&memory)
		most = max(most, memory.HeapAlloc)
	}))
	b.Cleanup(front.Close)
	client, err := restclient.New(restclient.Config{Host: front.URL})
	require.NoError(b, err)
	b.Cleanup(client.Close)
	w := causes.NewWorld(b.Context(), client)
	causes.Empty(w)
	require.NoError(b, w.Err())
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&memory)
		before, most = memory.HeapAlloc, memory.HeapAlloc
		evidence, err := collect.Collect(b.Context(), client, causes.Namespace, collect.Options{Interval: -1})
		require.NoError(b, err)
		require.Empty(b, evidence.Incomplete)
		found := 0
		for _, t := range evidence.Types {
			found += t.Count
		}
		require.Equal(b, largeCount, found)
		require.Less(b, most-before, uint64(largeLimit), "bytes")
	}
	b.ReportMetric(float64(most-before)/(1<<20), "MiB")
}

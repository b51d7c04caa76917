package view_test

import (
	"net/http"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/queue"
)

// BenchmarkRecord measures what an event costs the gear that reports it: alone, with a client that
// reads, and with one that never does.
func BenchmarkRecord(b *testing.B) {
	for _, client := range []string{"none", "reads", "never-reads"} {
		b.Run("client="+client, func(b *testing.B) {
			recorder, err := trace.Start(trace.Config{})
			require.NoError(b, err)
			defer recorder.Stop("")
			server, err := view.Start(view.Config{Source: recorder})
			require.NoError(b, err)
			defer server.Stop()
			if client != "none" {
				conn := connect(b, server)
				defer conn.Close()
				if client == "reads" {
					go func() {
						for {
							if _, _, err := conn.ReadMessage(); err != nil {
								return
							}
						}
					}()
				}
			}
			hooks, seq := recorder.Queue("work"), uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				seq++
				hooks.Added(queue.Event[string]{Key: "demo", Seq: seq})
				if seq%10_000 == 0 { // a lost event would cost less
					b.StopTimer()
					recorder.Flush()
					b.StartTimer()
				}
			}
			require.Empty(b, recorder.State().Lost)
		})
	}
}

// connect opens a socket of a server.
func connect(tb testing.TB, server *view.Server) *websocket.Conn {
	tb.Helper()
	address := at(tb, server, "/socket")
	origin := "http://" + address.Host
	address.Scheme = "ws"
	conn, _, err := websocket.DefaultDialer.Dial(address.String(), http.Header{"Origin": {origin}})
	require.NoError(tb, err)
	return conn
}

package trace_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

// What happens because an item waits at a gate of the laboratory says so, and has the gate among
// its causes.
func TestEventsSayThatAnItemIsHeld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "held.jsonl")
	r, err := trace.Start(trace.Config{File: file})
	require.NoError(t, err)
	const name = "namespaces"
	handlers, passes, watch := r.Informer(name), r.Namespaces(), r.Reflector(name)
	stuck := func(key string) {
		handlers.HandlerStuck(informer.StuckHandler{HandlerInfo: informer.HandlerInfo{Informer: name, Handler: "h", ID: 1}, Key: key})
	}
	watches := func() {
		watch.WatchStarted(api.ListOptions{})
		watch.WatchEnded(reflector.WatchInfo{Err: io.ErrUnexpectedEOF})
		watch.Expired("7", io.ErrUnexpectedEOF)
	}
	r.Held("G4", name, "demo")
	stuck("demo")
	stuck("other")
	r.Stepped("G4", name, "demo")
	stuck("demo")
	r.Held("G6", "pods", "demo/web")
	passes.PassStuck("demo", 1, 0)
	passes.PassStuck("dem", 1, 0)
	r.Released("G6")
	passes.PassStuck("demo", 1, 0)
	watches()
	watch.WatchStarted(api.ListOptions{})
	r.Held("G1", name, "demo")
	r.Stepped("G1", name, "demo")
	watch.WatchEnded(reflector.WatchInfo{Err: io.ErrUnexpectedEOF})
	watch.WatchStarted(api.ListOptions{})
	watch.Expired("7", io.ErrUnexpectedEOF)
	watches()
	r.Stop("over")

	from, err := os.Open(file)
	require.NoError(t, err)
	defer from.Close()
	held := uint64(0)
	var got []string
	_, err = trace.Read(from, func(e *trace.Event, _ *trace.LineError) error {
		switch e.Name {
		case "lab.held":
			held = e.Seq
		case "lab.stepped":
			assert.Equal(t, []uint64{held}, e.Causes)
		case "informer.handlerStuck", "nsctl.passStuck", "reflector.watchEnded", "reflector.expired":
			got = append(got, e.Name+" "+e.Gate)
			if e.Gate != "" {
				assert.Contains(t, e.Causes, held, e.Name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"informer.handlerStuck G4", "informer.handlerStuck ", "informer.handlerStuck ",
		"nsctl.passStuck G6", "nsctl.passStuck ", "nsctl.passStuck ",
		"reflector.watchEnded ", "reflector.expired ",
		"reflector.watchEnded G1", "reflector.expired G1",
		"reflector.watchEnded ", "reflector.expired ",
	}, got)
}

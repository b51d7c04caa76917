package informer_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// TestPanicInAHandlerEndsTheProcess: by default a panic in a handler ends the process. That
// process is this test, run once more.
func TestPanicInAHandlerEndsTheProcess(t *testing.T) {
	const child = "ORRERY_TEST_PANICS"
	if os.Getenv(child) != "" {
		panicInAHandler()
		return // the parent sees that the process has survived
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	assert.ErrorAs(t, err, new(*exec.ExitError), "%s", out)
	assert.Contains(t, string(out), "observed a panic: a fault in a handler")
	assert.Contains(t, string(out), "panicInAHandler", "the stack shows the handler")
}

func panicInAHandler() {
	source := informertest.NewNamespaceSource()
	source.Add(namespace("a"))
	inf := informer.NewSharedIndexInformer(source, config{})
	r, _ := inf.AddEventHandler(onAdd(func(*api.Namespace) { panic("a fault in a handler") }))
	go func() { _ = inf.Run(context.Background()) }()
	<-r.Synced()
}

package main

import (
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blockedWriter is a full pipe without a reader.
type blockedWriter struct{ forever chan struct{} }

func (w blockedWriter) Write([]byte) (int, error) {
	<-w.forever
	return 0, io.ErrClosedPipe
}

// A log that cannot be written changes nothing: the program watches, works, and stops on request.
func TestRunGoesOnWhenItsLogCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	blocked := blockedWriter{make(chan struct{})}
	defer close(blocked.forever)
	for name, stderr := range map[string]io.Writer{"full disk": full, "no reader": blocked} {
		for _, format := range []string{"text", "json"} {
			watching := make(chan struct{}, 100)
			url := serve(t, &quietCluster{called: func(r *http.Request) {
				if isWatch(r) {
					watching <- struct{}{}
				}
			}})
			stop, ended := startOrrery(t, stderr, "--kubeconfig", writeKubeconfig(t, url, "{}"), "-v3", "--log-format", format,
				"--leader-elect=false", "--metrics-port=0")
			for range 3 { // the probe, the streaming list, the long-running watch
				<-watching
			}
			stop()
			assert.NoError(t, <-ended, "%s, %s", name, format)
		}
	}
}

package main

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/lab/clustertest"
	"orrery/internal/observe/logs"
)

// takenPort returns a port that is in use.
func takenPort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// asked returns the page at path, or "" if there is no answer.
func asked(port int, path string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://127.0.0.1:" + strconv.Itoa(port) + path)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return strconv.Itoa(answer.StatusCode) + " " + string(text)
}

// If --metrics-port names a port that is in use, the run fails. If the default port is in use,
// the run goes on without it.
func TestAPortThatIsTaken(t *testing.T) {
	url := inMemory(t, nil)
	port := strconv.Itoa(takenPort(t))
	code, _, stderr := orrery(t, "run", "--leader-elect=false", "--kubeconfig", writeKubeconfig(t, url, "{}"),
		"--metrics-port", port)
	assert.Equal(t, 1, code)
	assert.Equal(t, "orrery: cannot listen on 127.0.0.1:"+port+": address already in use; "+
		"choose another --metrics-port or --bind-address, or --metrics-port 0 to serve nothing\n", stderr)

	var options observerOptions
	options.addTo(pflag.NewFlagSet("run", pflag.ContinueOnError))
	options.port = takenPort(t)
	var log clustertest.Buffer
	logger := logs.Start(logs.Config{Writer: &log})
	observer, err := startObserver(options, logger)
	require.NoError(t, err)
	observer.announce()
	observer.stop()
	logger.Stop()
	assert.Contains(t, log.String(), "WARN  metrics and health are not served, set --metrics-port to serve them")
	options.flags.Lookup("bind-address").Changed = true
	_, err = startObserver(options, logger)
	assert.Error(t, err)
}

// The health of a run, from before there is a server to its end.
func TestHealthOfARun(t *testing.T) {
	answered := make(chan struct{}) // closed when the server begins to answer
	url := inMemory(t, func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-answered:
			return false
		case <-r.Context().Done():
			return true
		}
	})
	port := freePort(t)
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", writeKubeconfig(t, url, "{}"), "--metrics-port",
		strconv.Itoa(port), "--allow-second-controller")
	said := func() string { return stderr.String() }
	await(t, func() bool { return asked(port, "/livez") == "200 ok" }, said)
	assert.Equal(t,
		"500 [+]ping ok\n[-]informer-sync failed: no informer has been started yet\n[+]shutdown ok\nreadyz "+
			"check failed\n", asked(port, "/readyz"))
	close(answered)
	await(t, func() bool {
		return asked(port,
			"/readyz?verbose") == "200 [+]ping ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n"
	}, said)
	assert.Contains(t, asked(port, "/metrics"), "\norrery_informer_synced{informer=\"namespaces\"} 1\n")
	await(t, func() bool { // also without an election
		return strings.Contains(asked(port, "/metrics"), "\nleader_election_master_status{name=\"orrery\"} 1\n")
	}, said)
	assert.Contains(t, asked(port, "/debug/pprof/"), "404 ")
	gears := asked(port, "/debug/orrery")
	for _, gear := range []string{"client", "informer", "fifo", "store", "controller", "events", "gears"} {
		assert.Contains(t, gears, `"`+gear+`":{`)
	}
	assert.Contains(t, gears, `"program":"`+program.Version)
	stop()
	require.NoError(t, <-ended)
	assert.Empty(t, asked(port, "/livez"), "the port is closed")
}

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/internal/lab/clustertest"
)

// "orrery run --view" serves the page and the lines to those who have the token, and the lines
// follow a deletion to the end. When the process is stopped, nothing of it is left.
func TestRunWithTheView(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { // the last one
		await(t, func() bool { return goleak.Find(before) == nil },
			func() string { return goleak.Find(before).Error() })
	})
	kubeconfig := builtIn(t)
	client := clientOf(t, kubeconfig)
	var stdout, stderr clustertest.Buffer
	stop, ended := startProgram(t, &stdout, &stderr, "run", "--kubeconfig", kubeconfig, "--leader-elect=false",
		"--allow-second-controller", "--namespace-deletion-grace-period=0", "--metrics-port=0", "--view", "--no-open")
	said := func() string { return stdout.String() + stderr.String() }
	printed := regexp.MustCompile(`The view: (http://\S+/)\?(\S+)`)
	await(t, func() bool { return printed.MatchString(stdout.String()) }, said)
	address := printed.FindStringSubmatch(stdout.String())

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	get := func(path, query string) *http.Response {
		response, err := (&http.Client{Transport: transport}).Get(address[1] + path + "?" + query)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	assert.Equal(t, 200, get("", address[2]).StatusCode)
	assert.Equal(t, 403, get("trace", "").StatusCode)
	lines := get("trace", address[2])
	require.Equal(t, 200, lines.StatusCode)

	deleteNamespace(t, client, "shop")
	seen := map[string]bool{}
	var last string
	text := bufio.NewReader(lines.Body)
	for last != "trace.end" {
		line, err := text.ReadBytes('\n')
		require.NoError(t, err, "the lines end with %q", last)
		var event struct {
			E, K string
		}
		require.NoError(t, json.Unmarshal(line, &event), "%s", line)
		if last = event.E; event.K == "shop" {
			seen[last] = true
		}
		if last == "nsctl.gone" {
			assert.Equal(t, "shop", event.K)
			stop() // as Ctrl-C does
		}
	}
	for _, name := range []string{"deltafifo.popped", "queue.got", "nsctl.passStarted", "nsctl.finalized",
		"nsctl.gone"} {
		assert.True(t, seen[name], "%s of the namespace", name)
	}
	require.NoError(t, <-ended, said())
}

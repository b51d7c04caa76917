package worker_test

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/worker"
)

func itoa(n int) string { return strconv.Itoa(n) }

// zombie reports whether a process's stat has the zombie state, which follows the name in
// parentheses.
func zombie(stat string) bool {
	_, state, _ := strings.Cut(stat, ") ")
	return strings.HasPrefix(state, "Z")
}

// request returns a line that asks for a run.
func request(scenario, effort string) string {
	return fmt.Sprintf(`{"method":"Worker.Run","params":[{"Scenario":%q,"Effort":%q}],"id":1}`, scenario, effort) + "\n"
}

// serve starts a worker and sends it the lines.
func serve(t *testing.T, lines ...string) (hangUp func() (answers string, err error)) {
	t.Helper()
	in, requests := io.Pipe()
	served := make(chan error, 1)
	var out bytes.Buffer
	go func() { served <- worker.Serve(scenarios(), in, &out) }()
	for _, line := range lines {
		_, err := io.WriteString(requests, line)
		require.NoError(t, err)
		synctest.Wait()
	}
	return func() (string, error) {
		require.NoError(t, requests.Close())
		err := <-served
		return out.String(), err
	}
}

func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, err := serve(t, request("warm", "great"), request("warm", "quick"))()
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(answers), "\n")
		require.Len(t, lines, 2)
		assert.Contains(t, lines[0], `"error":"there is no effort \"great\"`)
		assert.Equal(t, `{"id":1,"result":{"figures":{"n":1},"proof":"counted"},"error":null}`, lines[1])
	})
}

func TestScenariosTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, err := serve(t, request("hangs", "full"), request("warm", "full"))()
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(answers, "counted"))
		assert.Less(t, strings.Index(answers, "context canceled"), strings.Index(answers, "counted"), "the second waits for the first")
	})
}

func TestTwoScenariosOfOneName(t *testing.T) {
	twice := []bench.Scenario{{Name: "one"}, {Name: "one"}}
	assert.EqualError(t, worker.Serve(twice, strings.NewReader(""), io.Discard), "two scenarios are called one")
}

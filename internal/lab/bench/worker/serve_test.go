package worker_test

import (
	"bytes"
	"context"
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

// zombie reads the state in a process's stat: behind its name, which is in parentheses.
func zombie(stat string) bool {
	_, state, _ := strings.Cut(stat, ") ")
	return strings.HasPrefix(state, "Z")
}

func TestRequestsThatAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, requests := io.Pipe()
		var out bytes.Buffer
		served := make(chan error, 1)
		go func() { served <- worker.Serve(t.Context(), scenarios(), in, &out) }()
		for _, line := range []string{"hello", `{"scenario":"warm","effort":"great"}`, `{"scenario":"warm","effort":"quick"}`} {
			_, err := io.WriteString(requests, line+"\n")
			require.NoError(t, err)
			synctest.Wait()
		}
		require.NoError(t, requests.Close())
		require.NoError(t, <-served)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 3)
		assert.Contains(t, lines[0], `{"error":"not a request: `)
		assert.Equal(t, `{"error":"there is no effort \"great\""}`, lines[1])
		assert.Equal(t, `{"outcome":{"figures":{"n":1},"proof":"counted"}}`, lines[2])
	})
}

func TestTheEndOfTheInputStopsAScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, requests := io.Pipe()
		served := make(chan error, 1)
		var out bytes.Buffer
		go func() { served <- worker.Serve(t.Context(), scenarios(), in, &out) }()
		_, err := io.WriteString(requests, `{"scenario":"hangs","effort":"full"}`+"\n")
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, requests.Close())
		require.NoError(t, <-served)
		assert.Empty(t, out.String(), "nobody is there to read an answer")
	})
}

func TestTheEndOfTheContextEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, requests := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- worker.Serve(ctx, scenarios(), in, io.Discard) }()
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-served, context.Canceled)
		require.NoError(t, requests.Close()) // the goroutine that reads ends with it
	})
}

func TestTwoScenariosOfOneName(t *testing.T) {
	twice := []bench.Scenario{{Name: "one"}, {Name: "one"}}
	assert.EqualError(t, worker.Serve(t.Context(), twice, strings.NewReader(""), io.Discard), "two scenarios are called one")
}

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/upstream/controlplane"
)

// viewed is how many namespaces are deleted at once.
const viewed = 100

// traceEvent is what the test reads of an event.
type traceEvent struct {
	Seq   uint64 `json:"s"`
	Name  string `json:"e"`
	Key   string `json:"k"`
	State *struct {
		Odd        int
		Namespaces map[string]struct{ Gone bool }
		Lost       map[string]uint64
	} `json:"state"`
}

// viewAddress returns the address of a program's trace, once it has printed that of its page.
func (tr *trial) viewAddress() string {
	tr.t.Helper()
	printed := regexp.MustCompile(`The view: (http://\S+)`)
	var found []string
	tr.eventually("orrery prints the address of the view", func() (bool, error) {
		text, err := os.ReadFile(tr.cluster.LogFile(tr.cluster.subject.Name))
		found = printed.FindStringSubmatch(string(text))
		return found != nil, err
	})
	address, err := url.Parse(found[1])
	require.NoError(tr.t, err)
	address.Path = "/trace"
	return address.String()
}

// openTrace is a browser that opens the page: it gets the same lines.
func (tr *trial) openTrace(ctx context.Context, address string) *bufio.Reader {
	tr.t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(tr.t, err)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(tr.t, err)
	tr.t.Cleanup(func() { answer.Body.Close() })
	require.Equal(tr.t, http.StatusOK, answer.StatusCode)
	return bufio.NewReader(answer.Body)
}

// readTrace reads events until each returns false, or to the end.
func readTrace(from *bufio.Reader, each func(traceEvent) bool) error {
	for first := true; ; first = false {
		line, err := from.ReadBytes('\n')
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		var e traceEvent
		if err := json.Unmarshal(line, &e); err != nil && !first { // the header has other fields
			return fmt.Errorf("%s: %w", line, err)
		}
		if !first && !each(e) {
			return nil
		}
	}
}

// "orrery run --view" follows a hundred deletions at once to "gone". Several browsers look: two read to
// the end, one never reads, one is closed in the middle and opened again.
func TestTheViewFollowsDeletions(t *testing.T) {
	for _, platform := range Platforms() {
		t.Run(platform.Name, func(t *testing.T) {
			cluster, err := StartCluster(t.Context(), platform, Orrery(), controlplane.Config{Log: t.Output()},
				"--view", "--no-open", "--concurrent-namespace-syncs=10")
			require.NoError(t, err)
			stopped := false
			t.Cleanup(func() {
				if !stopped {
					_ = cluster.Stop() // the test has failed already
				}
			})
			tr := newTrial(t, cluster, endState{})
			address := tr.viewAddress()

			type seen struct {
				gone, events map[string]bool
				last         string
				gaps         int
				err          error
			}
			follow := func(from *bufio.Reader, until func(seen) bool) (s seen) {
				s = seen{gone: map[string]bool{}, events: map[string]bool{}}
				number := uint64(0)
				s.err = readTrace(from, func(e traceEvent) bool {
					if number > 0 && e.Seq != number+1 {
						s.gaps++
					}
					number, s.last = e.Seq, e.Name
					if strings.HasPrefix(e.Key, "viewed-") {
						s.events[e.Name] = true
						if e.Name == "nsctl.gone" {
							s.gone[e.Key] = true
						}
					}
					return until == nil || !until(s)
				})
				return s
			}
			results := make(chan seen, 2)
			for range 2 {
				browser := tr.openTrace(t.Context(), address)
				go func() { results <- follow(browser, nil) }()
			}
			tr.openTrace(t.Context(), address) // never reads
			ctx, closeBrowser := context.WithCancel(t.Context())
			early := tr.openTrace(ctx, address)

			names := make([]string, viewed)
			for i := range names {
				names[i] = fmt.Sprintf("viewed-%d", i)
			}
			tr.parallelize(viewed, func(i int) error {
				tr.createNamespace(names[i])
				return tr.tryConfigMap(names[i], "content")
			})
			tr.parallelize(viewed, func(i int) error { tr.deleteNamespace(names[i]); return nil })
			before := follow(early, func(s seen) bool { return len(s.gone) > 0 })
			closeBrowser()
			assert.NotEmpty(t, before.gone)
			for _, name := range names {
				tr.awaitGone(name)
			}
			again := tr.openTrace(t.Context(), address)
			known := map[string]bool{}
			require.NoError(t, readTrace(again, func(e traceEvent) bool {
				if e.State != nil {
					assert.Zero(t, e.State.Odd)
					assert.Empty(t, e.State.Lost)
					for name, namespace := range e.State.Namespaces {
						if namespace.Gone {
							known[name] = true
						}
					}
				}
				if e.Name == "nsctl.gone" {
					known[e.Key] = true
				}
				for _, name := range names {
					if !known[name] {
						return true
					}
				}
				return false
			}), "a browser that is opened again sees what has happened")

			cluster.StopController(t.Context())
			for range 2 {
				s := <-results
				require.NoError(t, s.err)
				assert.Equal(t, "trace.end", s.last)
				assert.Zero(t, s.gaps, "no event is missing")
				assert.Len(t, s.gone, viewed)
				for _, name := range []string{"reflector.event", "deltafifo.popped", "informer.handled", "queue.got", "nsctl.passStarted", "nsctl.finalized"} {
					assert.True(t, s.events[name], name)
				}
			}
			stopped = true
			require.NoError(t, cluster.Stop())
		})
	}
}

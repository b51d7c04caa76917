package discovery

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/restclienttest"
)

// TestFreshness runs the files in testdata. Commands:
//
//	server [ahead=D] [date=off|on] [slow=D] [broken=GV|none]
//	              the server's clock is D ahead; it answers after D
//	advance D     time passes
//	delete        a namespace is marked, by the server's clock, in whole seconds
//	ask [any]     what is not older than that deletion, or of any age
//	invalidate
//
// The output of ask is whether the answer came from the server or the cache, what is cached, and
// the counts of both.
func TestFreshness(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			f := &freshness{server: newFakeServer(formV2)}
			c, server := connect(t, f.server, Config{})
			f.asked, f.cached = server, NewCached(c)
			datadriven.RunTest(t, path, f.run)
		})
	})
}

type freshness struct {
	server          *fakeServer
	asked           *restclienttest.Server
	cached          *Cached
	deleted         time.Time
	fetched, reused int
}

func (f *freshness) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "server":
		f.server.set(func() { f.configure(t, d) })
		return ""
	case "advance":
		time.Sleep(duration(t, d.CmdArgs[0].Key))
		return ""
	case "delete":
		f.deleted = time.Now().Add(f.server.clockSkew).Truncate(time.Second)
		return ""
	case "invalidate":
		f.cached.Invalidate()
		return ""
	case "ask":
		return f.ask(t, d)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
		return ""
	}
}

func (f *freshness) configure(t *testing.T, d *datadriven.TestData) {
	for _, arg := range d.CmdArgs {
		switch value := arg.Vals[0]; arg.Key {
		case "ahead":
			f.server.clockSkew = duration(t, value)
		case "slow":
			f.server.slow = duration(t, value)
		case "date":
			f.server.noDate = value == "off"
		case "broken":
			f.server.broken = map[string]int{value: http.StatusServiceUnavailable}
		default:
			d.Fatalf(t, "unknown argument %q", arg.Key)
		}
	}
}

func (f *freshness) ask(t *testing.T, d *datadriven.TestData) string {
	notOlderThan := f.deleted
	if d.HasArg("any") {
		notOlderThan = time.Time{}
	}
	before, from := len(f.asked.Requests()), "cache"
	lists, err := f.cached.PreferredNamespacedResources(t.Context(), notOlderThan)
	if len(f.asked.Requests()) > before {
		from = "server"
		f.fetched++
	} else {
		f.reused++
	}
	out := fmt.Sprintf("%d lists from the %s", len(lists), from)
	if err != nil {
		out += fmt.Sprintf("; %v", err)
	}
	return fmt.Sprintf("%s\nkept %d lists, fetched %d, reused %d\n", out, keptLists(f.cached), f.fetched, f.reused)
}

func keptLists(c *Cached) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		return 0
	}
	return len(c.kept.lists)
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// answer is the result of one call to the cache.
type answer struct {
	lists int
	err   error
}

func ask(ctx context.Context, c *Cached, notOlderThan time.Time) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		lists, err := c.PreferredNamespacedResources(ctx, notOlderThan)
		out <- answer{len(lists), err}
	}()
	return out
}

// onSlowServer runs a test with a server that answers five seconds after it has read its state.
func onSlowServer(t *testing.T, test func(t *testing.T, cached *Cached, d *discovered)) {
	t.Helper()
	inForm(t, formV2, Config{}, func(t *testing.T, d *discovered) {
		d.fake.slow = 5 * time.Second
		test(t, NewCached(d.Client), d)
	})
}

// A hundred namespaces that are deleted at once need one discovery, not a hundred.
func TestCallersAtTheSameTimeShareTheRequests(t *testing.T) {
	onSlowServer(t, func(t *testing.T, cached *Cached, d *discovered) {
		deleted := time.Now()
		time.Sleep(5 * time.Second) // the grace period
		var answers []<-chan answer
		for range 100 {
			answers = append(answers, ask(t.Context(), cached, deleted))
		}
		for _, a := range answers {
			assert.Equal(t, answer{4, nil}, <-a)
		}
		assert.Equal(t, []string{"/api", "/apis"}, paths(d.asked, 0))
	})
}

// An answer in flight may be older than the namespace's deletion timestamp: later callers wait
// for the next one, which they share.
func TestLateCallersDoNotTrustWhatIsOnItsWay(t *testing.T) {
	onSlowServer(t, func(t *testing.T, cached *Cached, d *discovered) {
		start := time.Now()
		first := ask(t.Context(), cached, time.Now())
		time.Sleep(time.Second)
		second, third := ask(t.Context(), cached, time.Now()), ask(t.Context(), cached, time.Now())
		any := ask(t.Context(), cached, time.Time{})
		assert.Equal(t, answer{4, nil}, <-first)
		assert.Equal(t, answer{4, nil}, <-any, "for that one it is good enough")
		assert.Equal(t, 5*time.Second, time.Since(start), "/api and /apis are asked for side by side")
		assert.Equal(t, answer{4, nil}, <-second)
		assert.Equal(t, answer{4, nil}, <-third)
		assert.Equal(t, 10*time.Second, time.Since(start))
		assert.Len(t, d.asked.Requests(), 4)
	})
}

// An answer requested before Invalidate is neither cached nor returned to later callers.
func TestInvalidateWhileAnAnswerIsOnItsWay(t *testing.T) {
	onSlowServer(t, func(t *testing.T, cached *Cached, d *discovered) {
		before := ask(t.Context(), cached, time.Time{})
		time.Sleep(4 * time.Second) // the server has read its state, and not answered yet
		d.fake.set(func() { d.fake.groups = append(d.fake.groups, group("new.example", "v1: widgets")) })
		cached.Invalidate()
		after := ask(t.Context(), cached, time.Time{})
		assert.Equal(t, answer{4, nil}, <-before)
		assert.Zero(t, keptLists(cached), "an answer from before Invalidate is kept")
		assert.Equal(t, answer{5, nil}, <-after)
		assert.Equal(t, 5, keptLists(cached))
		assert.Len(t, d.asked.Requests(), 4)
	})
}

// A partial answer in flight is not returned to later callers.
func TestPartialAnswerIsNotShared(t *testing.T) {
	onSlowServer(t, func(t *testing.T, cached *Cached, d *discovered) {
		d.fake.broken["apps/v1"] = http.StatusServiceUnavailable
		first := ask(t.Context(), cached, time.Time{})
		time.Sleep(4 * time.Second) // the server has read its state, and not answered yet
		d.fake.set(func() { delete(d.fake.broken, "apps/v1") })
		second := ask(t.Context(), cached, time.Time{})
		got := <-first
		assert.Equal(t, 3, got.lists)
		assert.ErrorAs(t, got.err, new(*ErrGroupDiscoveryFailed))
		assert.Equal(t, answer{4, nil}, <-second)
		assert.Len(t, d.asked.Requests(), 4)
	})
}

// On an old server the result is as old as its oldest document.
func TestOldestPartCounts(t *testing.T) {
	inForm(t, formLegacy, Config{}, func(t *testing.T, d *discovered) {
		d.fake.slow = 3 * time.Second
		start := time.Now()
		cached := NewCached(d.Client)
		_, err := cached.PreferredNamespacedResources(t.Context(), start)
		require.NoError(t, err)
		assert.Equal(t, 6*time.Second, time.Since(start))
		assert.Equal(t, start, cached.kept.asOf.Local(), "when /api was asked for")

		d.fake.noDate = true
		cached.Invalidate()
		_, err = cached.PreferredNamespacedResources(t.Context(), start)
		require.NoError(t, err)
		assert.True(t, cached.kept.asOf.IsZero())
	})
}

func TestDescribedMoment(t *testing.T) {
	header := http.Header{"Date": {"Fri, 01 Mar 2024 12:00:00 GMT"}}
	assert.Equal(t, "2024-03-01T11:59:57.5Z", describedMoment(header, 2500*time.Millisecond).Format(time.RFC3339Nano))
	assert.True(t, describedMoment(http.Header{"Date": {"yesterday"}}, 0).IsZero())
	assert.True(t, describedMoment(http.Header{}, 0).IsZero())
	assert.True(t, strings.HasPrefix(acceptAggregated,
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"),
		"servers want the parameters in this order")
}

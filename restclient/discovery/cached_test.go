package discovery

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A discovery answer may serve again only if it is certainly younger than the deletion of the
// namespace, by the server's clock.
func TestFreshness(t *testing.T) {
	deleted := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name         string
		age          time.Duration // by our clock
		after        time.Duration // after the deletion, by the server's clock
		notOlderThan time.Time
		spoil        func(*snapshot)
		fresh        bool
	}{
		{"older than the deletion", 0, -500 * time.Millisecond, deleted, nil, false},
		{"only just younger: the timestamp is cut to seconds", 0, 1999 * time.Millisecond, deleted, nil, false},
		{"younger", 0, 2 * time.Second, deleted, nil, true},
		{"nearly ten seconds old", 10*time.Second - 1, 3 * time.Hour, deleted, nil, true},
		{"ten seconds old", 10 * time.Second, 3 * time.Hour, deleted, nil, false},
		{"of any age", 9 * time.Second, -time.Hour, time.Time{}, nil, true},
		{"too old for anything", 10 * time.Second, -time.Hour, time.Time{}, nil, false},
		{"the server does not tell the time", 0, 0, deleted, func(s *snapshot) { s.asOf = time.Time{} }, false},
		{"no time, and any age will do", 0, 0, time.Time{}, func(s *snapshot) { s.asOf = time.Time{} }, true},
		{"incomplete", 0, time.Hour, time.Time{}, func(s *snapshot) { s.failure = errNoGroupName }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &snapshot{asked: time.Now().Add(-c.age), asOf: deleted.Add(c.after)}
			if c.spoil != nil {
				c.spoil(s)
			}
			assert.Equal(t, c.fresh, s.isFresh(c.notOlderThan), c.name)
		})
	}
}

// Clocks that differ by hours change nothing; without the server's time nothing serves again, and
// neither does an answer without a group whose APIService points nowhere.
func TestWhatIsKept(t *testing.T) {
	for _, ahead := range []time.Duration{0, 3 * time.Hour, -3 * time.Hour} {
		inForm(t, formV2, Config{}, func(t *testing.T, d *discovered) {
			d.fake.clockSkew = ahead
			cached := NewCached(d.Client)
			var deleted time.Time
			remove := func() {
				deleted = time.Now().Add(ahead).Truncate(time.Second)
				time.Sleep(5 * time.Second)
			}
			asks := func(requests, lists int, why string) {
				t.Helper()
				before := len(d.asked.Requests())
				found, err := cached.PreferredNamespacedResources(t.Context(), deleted)
				assert.Len(t, found, lists, why)
				assert.Equal(t, lists < 4, err != nil, why)
				assert.Len(t, d.asked.Requests(), before+requests, why)
			}
			remove()
			asks(2, 4, "nothing is kept yet")
			asks(0, 4, "the answer is younger than the deletion")
			remove()
			asks(2, 4, "it is older than the next deletion")
			d.fake.broken["apps/v1"] = http.StatusServiceUnavailable
			asks(0, 4, "what was kept is good for this deletion")
			remove()
			asks(2, 3, "it is older than the next deletion")
			asks(2, 3, "an incomplete answer is not kept")
			d.fake.broken = nil
			asks(2, 4, "it is repaired")
			cached.Invalidate()
			asks(2, 4, "the answer is known to be outdated")
			asks(0, 4, "it is kept again")
			d.fake.noDate = true
			remove()
			asks(2, 4, "the server does not tell the time")
			asks(2, 4, "the server does not tell the time")
		})
	}
}

func keptLists(c *Cached) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.usableLocked(c.started, time.Time{}); s != nil {
		return len(s.lists)
	}
	return 0
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
		assert.Equal(t, []answer{{4, nil}, {4, nil}}, []answer{<-second, <-third})
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

// A partial answer in flight is not returned to later callers, who share the next one.
func TestPartialAnswerIsNotShared(t *testing.T) {
	onSlowServer(t, func(t *testing.T, cached *Cached, d *discovered) {
		d.fake.broken["apps/v1"] = http.StatusServiceUnavailable
		answers := []<-chan answer{ask(t.Context(), cached, time.Time{})}
		time.Sleep(time.Second) // it is on its way
		for range 10 {
			answers = append(answers, ask(t.Context(), cached, time.Time{}))
		}
		for _, a := range answers {
			got := <-a
			assert.Equal(t, 3, got.lists)
			assert.ErrorAs(t, got.err, new(*ErrGroupDiscoveryFailed))
		}
		assert.Len(t, d.asked.Requests(), 4, "want one answer for the first caller and one for all others")

		first := ask(t.Context(), cached, time.Time{})
		time.Sleep(4 * time.Second) // the server has read its state, and not answered yet
		d.fake.set(func() { delete(d.fake.broken, "apps/v1") })
		assert.Equal(t, answer{4, nil}, <-ask(t.Context(), cached, time.Time{}))
		assert.Equal(t, 3, (<-first).lists)
		assert.Len(t, d.asked.Requests(), 8)

		ended, end := context.WithCancel(t.Context())
		end()
		fresh := NewCached(d.Client)
		assert.ErrorIs(t, (<-ask(ended, fresh, time.Time{})).err, context.Canceled)
		assert.Nil(t, fresh.usableLocked(0, time.Time{}), "those who waited get the error of a caller that gave up")

		panics := NewCached(nil)
		for range 2 { // the second caller does not wait for the first
			assert.Panics(t, func() { _, _ = panics.PreferredNamespacedResources(t.Context(), time.Time{}) })
		}
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
		assert.Equal(t, start, cached.last.asOf.Local(), "when /api was asked for")

		d.fake.noDate = true
		cached.Invalidate()
		_, err = cached.PreferredNamespacedResources(t.Context(), start)
		require.NoError(t, err)
		assert.True(t, cached.last.asOf.IsZero())
	})
}

func TestDescribedMoment(t *testing.T) {
	header := http.Header{"Date": {"Fri, 01 Mar 2024 12:00:00 GMT"}}
	assert.Equal(t, "2024-03-01T11:59:57.5Z", describedMoment(header, 2500*time.Millisecond).Format(time.RFC3339Nano))
	assert.True(t, describedMoment(http.Header{"Date": {"yesterday"}}, 0).IsZero())
	assert.True(t, describedMoment(http.Header{}, 0).IsZero())
	assert.True(t, strings.HasPrefix(acceptAggregated,
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"), "servers want this order")
}

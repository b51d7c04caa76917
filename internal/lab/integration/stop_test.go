package integration_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/restclient"
)

// TestStopAtAnyMoment stops informers in every possible state. They end at once, except for a
// running callback, and leave no connection, watch, goroutine or timer.
func TestStopAtAnyMoment(t *testing.T) {
	each := func(do func(*collection)) func(*world) { return func(w *world) { w.each(do) } }
	for _, moment := range []struct {
		name   string
		client func(*restclient.Config)
		before func(*world)
		after  func(*world) // of run
		takes  time.Duration
	}{
		{name: "at once"},
		{name: "while a connection is opened", client: func(cfg *restclient.Config) {
			cfg.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}},
		{name: "while the rate limit delays a list", client: func(cfg *restclient.Config) { cfg.QPS, cfg.Burst = 0.001, 1 }},
		{name: "while a list is not answered", before: each(func(c *collection) { c.source.FailList(hang) })},
		{name: "in the middle of a list", before: each(func(c *collection) { c.source.FailList(stalled) })},
		{name: "between two pages", before: func(w *world) {
			w.settings.PageSize = 1
			w.each(func(c *collection) {
				c.source.SetPaging(true)
				c.source.FailList(nil, hang)
			})
		}},
		{name: "while a watch is not answered", before: each(func(c *collection) { c.source.FailWatch(hang) })},
		{name: "while the end of a streaming list is awaited", before: func(w *world) {
			w.settings.DisableWatchList = false
			w.each(func(c *collection) { c.source.SetStreamingList(informertest.StreamingWithoutBookmark) })
		}},
		{name: "on a quiet watch"},
		{name: "in the middle of an event", after: each(func(c *collection) { c.source.Cut(stalled) })},
		{name: "on a dead link", after: func(w *world) { w.server.Silence() }},
		{name: "backing off", before: each(func(c *collection) { c.source.FailList(reset) })},
		{name: "waiting for Retry-After", before: each(func(c *collection) { c.source.FailWatch(informertest.TooManyRequests(time.Hour)) })},
		{name: "while the server refuses connections", before: func(w *world) { w.server.Refuse(true) }},
		{name: "in a callback", before: func(w *world) { w.settings.work = 3 * time.Second }, takes: 2 * time.Second},
	} {
		for _, over := range ways {
			t.Run(moment.name+" over "+over.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, over, moment.client)
					w.set("a", "1")
					w.set("b", "1")
					if moment.before != nil {
						moment.before(w)
					}
					w.run()
					if moment.name != "at once" {
						synctest.Wait()
						if moment.after != nil {
							moment.after(w)
						}
						time.Sleep(time.Second)
						synctest.Wait()
					}
					began := time.Now()
					assert.NoError(t, w.stop())
					assert.Equal(t, moment.takes, time.Since(began))
					time.Sleep(time.Hour) // a leaked timer would fire now
					synctest.Wait()
				})
			})
		}
	}
}

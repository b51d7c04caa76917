package controllers

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/app/status"
	"orrery/internal/observe/logs"
)

// A backlog is a line a minute, and the same numbers for "orrery status". Namespaces that hang are
// terminating and do not wait.
func TestABacklogSaysHowLongItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var waiting atomic.Int64
		queued := func() int { return int(waiting.Load()) }
		const hanging = 10
		b := &backlog{
			logger: logs.New(logs.Config{Writer: &log}), waiting: queued,
			deleting: func() int { return queued() + hanging },
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.run(ctx)
		}()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Empty(t, log.String(), "nothing waits")
		assert.Nil(t, b.progress())

		waiting.Store(1800)
		for queued() > 0 { // four a second
			time.Sleep(250 * time.Millisecond)
			synctest.Wait()
			b.trace().Gone("", 0)
			if waiting.Add(-1) == 1000 {
				p := b.progress()
				assert.Equal(t, 1010, p.Of-p.Done, "those that are left, with those that hang")
				assert.InDelta(t, 4, p.PerSecond, 0.2)
				assert.InDelta(t, 250, p.LeftSeconds, 15, "a quarter of a second for each of those that wait")
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, 7, strings.Count(log.String(), "\n"), "it lasted seven minutes and a half: %s", log.String())
		assert.Regexp(t,
			`^\S+ INFO  namespaces wait for a worker done=2\d\d left_s=3\d\d of=1[78]\d\d per_s=4 waiting=1\d\d\d\n`,
			log.String())
		assert.Nil(t, b.progress(), "it is over")

		log.Reset()
		waiting.Store(5)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, &status.Progress{Of: 15}, b.progress(),
			"a new one; nobody knows how long it lasts while none goes")
		assert.Contains(t, log.String(), "done=0 of=15 per_s=0 waiting=5\n")
		stop()
		<-ended
	})
}

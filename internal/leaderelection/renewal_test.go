package leaderelection_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/leaderelection"
	"orrery/restclient/api"
)

// A slow server is no reason to stop as long as each answer arrives within the timeout of its
// attempt. The next attempt begins a retry period after the beginning of the last one, or at its
// end if that is later.
func TestASlowServerIsSurvived(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		a := p.join("a")
		synctest.Wait()
		b := p.join("b")
		time.Sleep(time.Second)
		p.forbid(func(r *http.Request) bool {
			if r.Method == http.MethodPut {
				time.Sleep(4900 * time.Millisecond)
			}
			return false
		})
		time.Sleep(time.Minute)
		assert.True(t, a.leads())
		assert.False(t, b.leads())
	})
}

// After an attempt without an answer, another follows at once, in the time left until the
// deadline.
func TestAnAttemptWithoutAnAnswerIsRepeatedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		a := p.join("a")
		time.Sleep(time.Second)
		var attempts atomic.Int32
		p.forbid(func(r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			if attempts.Add(1) == 1 { // it begins 2 s after the last renewal and has 5 s
				time.Sleep(6 * time.Second)
				return true
			}
			time.Sleep(2900 * time.Millisecond)
			return false
		})
		time.Sleep(12 * time.Second)
		assert.True(t, a.leads())
		assert.GreaterOrEqual(t, attempts.Load(), int32(2))
	})
}

// An attempt that is refused at once is retried after the retry period, not in a loop.
func TestRenewalsKeepTheirPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		a := p.join("a")
		time.Sleep(time.Second)
		var began []time.Duration
		start := time.Now().Add(-time.Second)
		p.forbid(func(r *http.Request) bool {
			if r.Method == http.MethodPut {
				began = append(began, time.Since(start))
				return true
			}
			return false
		})
		<-a.ended
		assert.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 8 * time.Second}, began)
		var lost *leaderelection.LostError
		require.ErrorAs(t, a.err, &lost)
		assert.True(t, api.IsForbidden(lost), "%v", lost)
	})
}

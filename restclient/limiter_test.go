package restclient

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func TestTheBeginningOfASecretThatWasCutIsCensored(t *testing.T) {
	for cut, want := range map[string]string{"secret1": censored, "secret": censored, "secre": "secre"} {
		assert.Equal(t, "token "+want+api.CutMark, withoutCutSecret("token "+cut+api.CutMark, "secret12"))
	}
}

func TestLimiterGivesTokensOfCancelledWaitersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, 1)
		_, err := takeToken(t.Context(), l)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := takeToken(ctx, l)
			failed <- err
		}()
		synctest.Wait()
		assert.InDelta(t, -1, l.Tokens(), 1e-9)
		cancel()
		assert.ErrorIs(t, <-failed, context.Canceled)
		assert.InDelta(t, 0, l.Tokens(), 1e-9, "the token of a waiter that has gone is lost")

		_, err = takeToken(ctx, l)
		assert.ErrorIs(t, err, context.Canceled, "a dead context takes no token")
		assert.InDelta(t, 0, l.Tokens(), 1e-9)
	})
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
		ok          bool
	}{
		{"", "", 0, false},
		{"0", "", 0, true},
		{"7", "", 7 * time.Second, true},
		{" 7 ", "", 7 * time.Second, true},
		{"-1", "", 0, false},
		{"1.5", "", 0, false},
		{"soon", "", 0, false},
		{"99999999999999999999", "", 0, false},
		{"Sun, 01 Mar 2026 12:00:09 GMT", "", 9 * time.Second, true},
		{"Sunday, 01-Mar-26 12:00:09 GMT", "", 9 * time.Second, true},
		{"Sun Mar  1 12:00:09 2026", "", 9 * time.Second, true},
		{"Sun, 01 Mar 2026 11:00:00 GMT", "", 0, true},
		// The server's clock is an hour ahead of ours; the difference by its own clock counts.
		{"Sun, 01 Mar 2026 13:00:04 GMT", "Sun, 01 Mar 2026 13:00:00 GMT", 4 * time.Second, true},
	} {
		header := http.Header{}
		header.Set("Retry-After", c.value)
		if c.date != "" {
			header.Set("Date", c.date)
		}
		got, ok := parseRetryAfter(header, now)
		assert.Equal(t, c.ok, ok, "%q", c.value)
		assert.Equal(t, c.want, got, "%q", c.value)
	}
}

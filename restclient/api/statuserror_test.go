package api_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// class is a row of the classification: a reason and its HTTP code.
type class struct {
	reason api.StatusReason
	code   int
	usual  bool             // the code alone implies the reason
	is     func(error) bool // nil: HasReason is the only test
}

var classes = []class{
	{api.ReasonBadRequest, 400, true, api.IsBadRequest},
	{api.ReasonUnauthorized, 401, true, api.IsUnauthorized},
	{api.ReasonForbidden, 403, true, api.IsForbidden},
	{api.ReasonNotFound, 404, true, api.IsNotFound},
	{api.ReasonMethodNotAllowed, 405, true, api.IsMethodNotAllowed},
	{api.ReasonNotAcceptable, 406, true, nil},
	{api.ReasonConflict, 409, true, api.IsConflict},
	{api.ReasonAlreadyExists, 409, false, api.IsAlreadyExists},
	{api.ReasonExpired, 410, true, api.IsExpired},
	{api.ReasonGone, 410, false, api.IsExpired},
	{api.ReasonRequestEntityTooLarge, 413, true, nil},
	{api.ReasonUnsupportedMediaType, 415, true, nil},
	{api.ReasonInvalid, 422, true, api.IsInvalid},
	{api.ReasonTooManyRequests, 429, true, api.IsTooManyRequests},
	{api.ReasonInternalError, 500, true, api.IsInternalError},
	{api.ReasonServerTimeout, 500, false, nil},
	{api.ReasonStoreReadError, 500, false, nil},
	{api.ReasonServiceUnavailable, 503, true, api.IsServiceUnavailable},
	{api.ReasonTimeout, 504, true, api.IsTimeout},
}

// answersYes reports whether the function that tests for the reason of c says yes to err.
func (c class) answersYes(err error) bool {
	if c.is == nil {
		return api.HasReason(err, c.reason)
	}
	return c.is(err)
}

func statusError(code int, reason api.StatusReason) error {
	return fmt.Errorf("while testing: %w", api.NewStatusError(api.Status{Status: api.StatusFailure, Code: code,
		Reason: reason}))
}

// with returns the details that ask for a delay.
func with(seconds int) *api.StatusDetails { return &api.StatusDetails{RetryAfterSeconds: seconds} }

// TestContract asserts how refusals are classified.
func TestContract(t *testing.T) {
	t.Run("NewStatusError", testNewStatusError)
	t.Run("ReasonOf", testReasonOf)
	t.Run("IsExpired", testIsExpired)
	t.Run("RetryAfterOf", testRetryAfterOf)
	t.Run("Classification", testClassification)
}

func testNewStatusError(t *testing.T) {
	t.Run("KeepsTheStatus", func(t *testing.T) {
		status := api.Status{Status: api.StatusFailure, Code: 403, Reason: api.ReasonForbidden, Message: "no",
			Details: &api.StatusDetails{Name: "shop", Causes: []api.StatusCause{{Type: api.CauseNamespaceTerminating}}}}
		assert.Equal(t, api.StatusError{Status: status}, *api.NewStatusError(status),
			"the error has the whole status, and no delay")
		assert.Equal(t, api.Status{Code: 410}, api.NewStatusError(api.Status{Code: 410}).Status,
			"a missing reason stays missing")
	})
	t.Run("DelayInTheDetails", func(t *testing.T) {
		assert.Equal(t, 7*time.Second, api.NewStatusError(api.Status{Code: 429, Details: with(7)}).RetryAfter,
			"a refusal with retryAfterSeconds 7 asks for 7s")
		assert.Equal(t, 7*time.Second, api.NewStatusError(api.Status{Code: 504, Details: with(7)}).RetryAfter,
			"a delay counts with any code")
	})
	t.Run("NoDelay", func(t *testing.T) {
		assert.Zero(t, api.NewStatusError(api.Status{Code: 429}).RetryAfter,
			"a refusal without details asks for no delay")
		assert.Zero(t, api.NewStatusError(api.Status{Code: 429, Details: with(0)}).RetryAfter,
			"retryAfterSeconds 0 is no delay")
		assert.Zero(t, api.NewStatusError(api.Status{Code: 429, Details: with(-1)}).RetryAfter,
			"a negative retryAfterSeconds is no delay")
	})
	t.Run("HugeDelay", func(t *testing.T) {
		assert.Equal(t, math.MaxInt32*time.Second,
			api.NewStatusError(api.Status{Code: 504, Details: with(1 << 62)}).RetryAfter,
			"more seconds than a time.Duration holds must stay a very long delay")
	})
	t.Run("Text", func(t *testing.T) {
		assert.EqualError(t, api.NewStatusError(api.Status{Message: "no", Code: 403}), "no")
		assert.EqualError(t, api.NewStatusError(api.Status{Code: 403}), "the server answered 403 Forbidden")
		assert.EqualError(t, api.NewStatusError(api.Status{Code: 500, Reason: "Odd"}), "the server answered 500 Odd")
	})
}

func testReasonOf(t *testing.T) {
	t.Run("ServersReason", func(t *testing.T) {
		assert.Equal(t, api.ReasonAlreadyExists, api.ReasonOf(statusError(409, api.ReasonAlreadyExists)),
			"code 409 with a reason: the reason counts, because several reasons share the code")
		for _, c := range classes {
			assert.Equal(t, c.reason, api.ReasonOf(statusError(c.code, c.reason)), "code %d with the reason %s", c.code,
				c.reason)
		}
	})
	t.Run("UnknownReason", func(t *testing.T) {
		assert.Equal(t, api.StatusReason("InventedLater"), api.ReasonOf(statusError(409, "InventedLater")),
			"the server's reason counts, even one that is not in the table")
	})
	t.Run("CodeAlone", func(t *testing.T) {
		for _, c := range classes {
			if c.usual {
				assert.Equal(t, c.reason, api.ReasonOf(statusError(c.code, "")), "code %d without a reason", c.code)
			}
		}
	})
	t.Run("Wrapped", func(t *testing.T) {
		refusal := api.NewStatusError(api.Status{Code: 404})
		assert.Equal(t, api.ReasonNotFound, api.ReasonOf(refusal), "the refusal itself")
		assert.Equal(t, api.ReasonNotFound, api.ReasonOf(fmt.Errorf("list: %w", fmt.Errorf("pods: %w", refusal))),
			"a refusal wrapped twice")
		assert.Equal(t, api.ReasonNotFound, api.ReasonOf(errors.Join(io.EOF, refusal)),
			"a refusal joined with another error")
		assert.Equal(t, api.ReasonNotFound, api.ReasonOf(errors.Join(refusal, statusError(409, ""))),
			"the first of two refusals")
	})
	t.Run("OtherErrors", func(t *testing.T) {
		for _, err := range []error{nil, io.EOF, errors.New("not found")} {
			assert.Equal(t, api.ReasonUnknown, api.ReasonOf(err), "%v is no refusal and has no reason", err)
			assert.Zero(t, api.CodeOf(err), "%v is no refusal and has no code", err)
		}
	})
}

func testIsExpired(t *testing.T) {
	t.Run("Reason", func(t *testing.T) {
		for _, reason := range []api.StatusReason{api.ReasonExpired, api.ReasonGone} {
			assert.True(t, api.IsExpired(statusError(410, reason)), "code 410 with the reason %s is expired", reason)
			assert.True(t, api.IsExpired(statusError(0, reason)), "the reason %s is expired without a code", reason)
			assert.True(t, api.IsExpired(statusError(500, reason)), "the reason %s is expired with any code", reason)
		}
	})
	t.Run("CodeAlone", func(t *testing.T) {
		assert.True(t, api.IsExpired(statusError(410, "")), "a proxy's 410 without a reason is expired")
		assert.True(t, api.IsExpired(statusError(410, "InventedLater")),
			"410 with a reason that is not in the table is expired")
	})
	t.Run("CodeWithAnotherReason", func(t *testing.T) {
		assert.True(t, api.IsExpired(statusError(410, api.ReasonInternalError)), "410 is expired with any reason")
	})
	t.Run("MessageDoesNotCount", func(t *testing.T) {
		refusal := func(code int, message string) error {
			return api.NewStatusError(api.Status{Code: code, Message: message})
		}
		assert.True(t, api.IsExpired(refusal(410, "the server did not say why")),
			"410 is expired, whatever its message says")
		assert.False(t, api.IsExpired(refusal(403, "too old resource version: 1 (100)")),
			"403 is not expired, whatever its message says")
		assert.False(t, api.IsExpired(errors.New("410 Gone: too old resource version")),
			"an error that is no refusal is not expired")
	})
	t.Run("Wrapped", func(t *testing.T) {
		refusal := api.NewStatusError(api.Status{Code: 410})
		assert.True(t, api.IsExpired(refusal), "the refusal itself")
		assert.True(t, api.IsExpired(fmt.Errorf("list: %w", fmt.Errorf("pods: %w", refusal))),
			"a refusal wrapped twice is expired")
	})
	t.Run("OtherRefusals", func(t *testing.T) {
		for _, c := range classes {
			if c.code != 410 {
				assert.False(t, api.IsExpired(statusError(c.code, c.reason)),
					"code %d with the reason %s is not expired", c.code, c.reason)
			}
		}
		tooLarge := api.Status{Code: 504,
			Details: &api.StatusDetails{Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge}}}}
		assert.False(t, api.IsExpired(api.NewStatusError(tooLarge)),
			"a version that the server has not reached yet is not expired")
		assert.False(t, api.IsExpired(nil), "no error is not expired")
	})
}

func testRetryAfterOf(t *testing.T) {
	refusal := api.NewStatusError(api.Status{Code: 429, Details: with(7)})
	t.Run("Refusal", func(t *testing.T) {
		assert.Equal(t, 7*time.Second, api.RetryAfterOf(refusal), "the delay of a refusal")
		assert.Zero(t, api.RetryAfterOf(statusError(429, "")), "a refusal without a delay")
	})
	t.Run("Wrapped", func(t *testing.T) {
		assert.Equal(t, 7*time.Second, api.RetryAfterOf(fmt.Errorf("list: %w", fmt.Errorf("pods: %w", refusal))),
			"the delay of a refusal wrapped twice")
		assert.Equal(t, 7*time.Second, api.RetryAfterOf(errors.Join(io.EOF, refusal)),
			"the delay of a refusal joined with another error")
	})
	t.Run("AnyCode", func(t *testing.T) {
		assert.Equal(t, 7*time.Second, api.RetryAfterOf(api.NewStatusError(api.Status{Code: 503, Details: with(7)})),
			"the delay of a 503")
	})
	t.Run("Header", func(t *testing.T) { // the client sets the field
		assert.Equal(t, 3*time.Second, api.RetryAfterOf(&api.StatusError{RetryAfter: 3 * time.Second}),
			"a delay from a header is not in the details")
	})
	t.Run("OtherErrors", func(t *testing.T) {
		for _, err := range []error{nil, io.EOF, errors.New("retry after 7 seconds")} {
			assert.Zero(t, api.RetryAfterOf(err), "%v is no refusal and asks for no delay", err)
		}
	})
}

func testClassification(t *testing.T) {
	// Exactly its own function recognises a reason, whatever the code; a code alone, or with an
	// unknown reason, is recognised as its usual reason.
	t.Run("EveryRow", func(t *testing.T) {
		gone := map[api.StatusReason]bool{api.ReasonExpired: true, api.ReasonGone: true}
		for _, c := range classes {
			for _, asked := range classes {
				same := asked.reason == c.reason || gone[asked.reason] && gone[c.reason]
				assert.Equal(t, same, asked.answersYes(statusError(c.code, c.reason)), "code %d, reason %s: is it %s?",
					c.code, c.reason, asked.reason)
				assert.Equal(t, same, asked.answersYes(statusError(0, c.reason)), "reason %s alone: is it %s?",
					c.reason, asked.reason)
				assert.Equal(t, same, asked.answersYes(statusError(418, c.reason)),
					"reason %s with another code: is it %s?", c.reason, asked.reason)
				if c.usual {
					assert.Equal(t, same, asked.answersYes(statusError(c.code, "")), "code %d alone: is it %s?", c.code,
						asked.reason)
					assert.Equal(t, same, asked.answersYes(statusError(c.code, "InventedLater")),
						"code %d with an unknown reason: is it %s?", c.code, asked.reason)
				}
			}
		}
	})
	t.Run("EveryCode", func(t *testing.T) {
		want := map[int]api.StatusReason{}
		for code := 500; code < 600; code++ {
			want[code] = api.ReasonInternalError
		}
		for _, c := range classes {
			if c.usual {
				want[c.code] = c.reason
			}
		}
		for code := range 700 {
			assert.Equal(t, want[code], api.ReasonForCode(code, false), "code %d", code)
			if code != 409 {
				assert.Equal(t, want[code], api.ReasonForCode(code, true), "code %d of a create", code)
			}
		}
		assert.Equal(t, api.ReasonAlreadyExists, api.ReasonForCode(409, true),
			"a conflict on a create means that the name is taken")
	})
	t.Run("OtherErrors", func(t *testing.T) {
		for _, err := range []error{nil, io.EOF, errors.New("not found")} {
			for _, c := range classes {
				assert.False(t, c.answersYes(err), "%v is no refusal: is it %s?", err, c.reason)
			}
			assert.False(t, api.IsTooLargeResourceVersion(err), "%v is no refusal", err)
			assert.False(t, api.IsNamespaceTerminating(err), "%v is no refusal", err)
		}
	})
	t.Run("Causes", func(t *testing.T) {
		with := func(cause api.CauseType) error {
			return api.NewStatusError(api.Status{Code: 403,
				Details: &api.StatusDetails{Causes: []api.StatusCause{{Type: "Other"}, {Type: cause}}}})
		}
		assert.True(t, api.IsNamespaceTerminating(with(api.CauseNamespaceTerminating)))
		assert.False(t, api.IsNamespaceTerminating(with(api.CauseResourceVersionTooLarge)))
		assert.True(t, api.IsTooLargeResourceVersion(with(api.CauseResourceVersionTooLarge)))
		assert.False(t, api.IsTooLargeResourceVersion(statusError(504, api.ReasonTimeout)))
	})
}

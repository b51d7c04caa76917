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
	t.Run("Errors", testErrors)
	t.Run("Classification", testClassification)
}

func testNewStatusError(t *testing.T) {
	status := api.Status{Status: api.StatusFailure, Code: 403, Reason: api.ReasonForbidden, Message: "no",
		Details: &api.StatusDetails{Name: "shop", Causes: []api.StatusCause{{Type: api.CauseNamespaceTerminating}}}}
	assert.Equal(t, api.StatusError{Status: status}, *api.NewStatusError(status), "the whole status, and no delay")
	bare := api.Status{Code: 410}
	assert.Equal(t, bare, api.NewStatusError(bare).Status, "a missing reason stays missing")
	long := api.NewStatusError(api.Status{Code: 504, Details: with(1 << 62)})
	assert.Equal(t, math.MaxInt32*time.Second, long.RetryAfter, "more seconds than a time.Duration holds")
	assert.EqualError(t, api.NewStatusError(api.Status{Message: "no", Code: 403}), "no")
	assert.EqualError(t, api.NewStatusError(api.Status{Code: 403}), "the server answered 403 Forbidden")
	assert.EqualError(t, api.NewStatusError(api.Status{Code: 500, Reason: "Odd"}), "the server answered 500 Odd")
}

func testErrors(t *testing.T) {
	detailed := func(code int, details *api.StatusDetails) error {
		return api.NewStatusError(api.Status{Code: code, Details: details})
	}
	worded := func(code int, text string) error { return api.NewStatusError(api.Status{Code: code, Message: text}) }
	notFound, later, gone := detailed(404, nil), detailed(429, with(7)), detailed(410, nil)
	twice := func(err error) error { return fmt.Errorf("list: %w", fmt.Errorf("pods: %w", err)) }
	tooLarge := &api.StatusDetails{Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge}}}
	for name, c := range map[string]struct {
		err     error
		reason  api.StatusReason
		expired bool
		delay   time.Duration
	}{
		"a code of several reasons": {statusError(409, api.ReasonAlreadyExists), api.ReasonAlreadyExists, false, 0},
		"an unknown reason":         {statusError(409, "InventedLater"), "InventedLater", false, 0},
		"wrapped twice":             {twice(notFound), api.ReasonNotFound, false, 0},
		"joined":                    {errors.Join(io.EOF, notFound), api.ReasonNotFound, false, 0},
		"two refusals":              {errors.Join(notFound, statusError(409, "")), api.ReasonNotFound, false, 0},
		"no error":                  {nil, api.ReasonUnknown, false, 0},
		"not a refusal":             {io.EOF, api.ReasonUnknown, false, 0},
		"whatever its text":         {errors.New("410 Gone: retry after 7 seconds"), api.ReasonUnknown, false, 0},
		"Expired":                   {statusError(410, api.ReasonExpired), api.ReasonExpired, true, 0},
		"Expired without a code":    {statusError(0, api.ReasonExpired), api.ReasonExpired, true, 0},
		"Expired, another code":     {statusError(500, api.ReasonExpired), api.ReasonExpired, true, 0},
		"Gone":                      {statusError(410, api.ReasonGone), api.ReasonGone, true, 0},
		"Gone without a code":       {statusError(0, api.ReasonGone), api.ReasonGone, true, 0},
		"Gone with another code":    {statusError(500, api.ReasonGone), api.ReasonGone, true, 0},
		"a proxy's 410":             {gone, api.ReasonExpired, true, 0},
		"a 410, wrapped twice":      {twice(gone), api.ReasonExpired, true, 0},
		"410, an unknown reason":    {statusError(410, "InventedLater"), "InventedLater", true, 0},
		"410, another's reason":     {statusError(410, api.ReasonInternalError), api.ReasonInternalError, true, 0},
		"410, whatever its text":    {worded(410, "why?"), api.ReasonExpired, true, 0},
		"403, whatever its text":    {worded(403, "too old resource version"), api.ReasonForbidden, false, 0},
		"too large":                 {detailed(504, tooLarge), api.ReasonTimeout, false, 0},
		"a delay":                   {later, api.ReasonTooManyRequests, false, 7 * time.Second},
		"a delay, wrapped twice":    {twice(later), api.ReasonTooManyRequests, false, 7 * time.Second},
		"a delay, joined":           {errors.Join(io.EOF, later), api.ReasonTooManyRequests, false, 7 * time.Second},
		"a delay of a 503":          {detailed(503, with(7)), api.ReasonServiceUnavailable, false, 7 * time.Second},
		"a delay of a header":       {&api.StatusError{RetryAfter: 3}, api.ReasonUnknown, false, 3},
		"no details":                {statusError(429, ""), api.ReasonTooManyRequests, false, 0},
		"a delay of 0":              {detailed(429, with(0)), api.ReasonTooManyRequests, false, 0},
		"a negative delay":          {detailed(429, with(-1)), api.ReasonTooManyRequests, false, 0},
	} {
		assert.Equal(t, c.reason, api.ReasonOf(c.err), name)
		assert.Equal(t, c.expired, api.IsExpired(c.err), name)
		assert.Equal(t, c.delay, api.RetryAfterOf(c.err), name)
	}
	for _, c := range classes {
		assert.Equal(t, c.reason, api.ReasonOf(statusError(c.code, c.reason)), "%d, %s", c.code, c.reason)
		assert.Equal(t, c.code == 410, api.IsExpired(statusError(c.code, c.reason)), "%d, %s", c.code, c.reason)
		if c.usual {
			assert.Equal(t, c.reason, api.ReasonOf(statusError(c.code, "")), "code %d without a reason", c.code)
		}
	}
	assert.Zero(t, api.CodeOf(io.EOF), "an error that is no refusal has no code")
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

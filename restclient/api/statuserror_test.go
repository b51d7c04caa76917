package api_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// questions are all the functions that ask an error for its reason, by the reason that they stand for; nil where HasReason asks.
var questions = map[api.StatusReason]func(error) bool{
	api.ReasonBadRequest:            api.IsBadRequest,
	api.ReasonUnauthorized:          api.IsUnauthorized,
	api.ReasonForbidden:             api.IsForbidden,
	api.ReasonNotFound:              api.IsNotFound,
	api.ReasonMethodNotAllowed:      api.IsMethodNotAllowed,
	api.ReasonNotAcceptable:         nil,
	api.ReasonConflict:              api.IsConflict,
	api.ReasonAlreadyExists:         api.IsAlreadyExists,
	api.ReasonExpired:               api.IsExpired,
	api.ReasonGone:                  api.IsExpired,
	api.ReasonRequestEntityTooLarge: nil,
	api.ReasonUnsupportedMediaType:  nil,
	api.ReasonInvalid:               api.IsInvalid,
	api.ReasonTooManyRequests:       api.IsTooManyRequests,
	api.ReasonInternalError:         api.IsInternalError,
	api.ReasonServerTimeout:         nil,
	api.ReasonStoreReadError:        nil,
	api.ReasonServiceUnavailable:    api.IsServiceUnavailable,
	api.ReasonTimeout:               api.IsTimeout,
}

func statusError(code int, reason api.StatusReason) error {
	return fmt.Errorf("while testing: %w", api.NewStatusError(api.Status{Status: api.StatusFailure, Code: code, Reason: reason}))
}

// Each row of the table: the reason is recognised by exactly its own function, whatever the code says, and the code alone is
// recognised as what it usually means.
func TestEveryRowOfTheClassification(t *testing.T) {
	gone := map[api.StatusReason]bool{api.ReasonExpired: true, api.ReasonGone: true}
	rows := 0
	api.EachClass(func(reason api.StatusReason, code int, usual bool) {
		rows++
		t.Run(string(reason), func(t *testing.T) {
			assert.Contains(t, questions, reason, "there is a function that asks for it")
			for asked, is := range questions {
				if is == nil {
					is = func(err error) bool { return api.HasReason(err, asked) }
				}
				same := asked == reason || gone[asked] && gone[reason]
				assert.Equal(t, same, is(statusError(code, reason)), "asked for %s", asked)
				assert.Equal(t, same, is(statusError(0, reason)), "asked for %s, reason alone", asked)
				assert.Equal(t, same, is(statusError(418, reason)), "asked for %s, reason with another code", asked)
				if usual {
					assert.Equal(t, same, is(statusError(code, "")), "asked for %s, code alone", asked)
					assert.Equal(t, same, is(statusError(code, "InventedLater")), "asked for %s, code with an unknown reason", asked)
				}
			}
			if usual {
				assert.Equal(t, reason, api.ReasonForCode(code, false))
			}
			assert.Equal(t, reason, api.ReasonOf(statusError(code, reason)))
			assert.Equal(t, code, api.CodeOf(statusError(code, reason)))
		})
	})
	assert.Equal(t, len(questions), rows)
}

// 410 counts as expired by its code too, even with a reason that means something else: ERROR events carry odd pairs.
func TestExpiredByCodeOrReason(t *testing.T) {
	assert.True(t, api.IsExpired(statusError(410, api.ReasonInternalError)), "410 is expired whatever the reason")
	assert.True(t, api.IsExpired(statusError(500, api.ReasonExpired)), "the reason Expired counts with any code")
	assert.True(t, api.IsExpired(statusError(0, api.ReasonGone)), "the reason Gone counts without a code")
	assert.False(t, api.IsExpired(statusError(409, api.ReasonConflict)), "a conflict is not expired")
}

func TestReasonForCode(t *testing.T) {
	assert.Equal(t, api.ReasonAlreadyExists, api.ReasonForCode(409, true))
	assert.Equal(t, api.ReasonNotFound, api.ReasonForCode(404, true), "only a conflict means that the name is taken")
	assert.Equal(t, api.ReasonInternalError, api.ReasonForCode(500, true), "only a conflict means that the name is taken")
	assert.Equal(t, api.ReasonConflict, api.ReasonForCode(409, false))
	assert.Equal(t, api.ReasonInternalError, api.ReasonForCode(502, false))
	assert.Equal(t, api.ReasonInternalError, api.ReasonForCode(599, false))
	assert.Equal(t, api.ReasonUnknown, api.ReasonForCode(418, false))
	assert.Equal(t, api.ReasonUnknown, api.ReasonForCode(600, false))
	assert.Equal(t, api.ReasonUnknown, api.ReasonForCode(200, false))
}

func TestOtherErrorsHaveNoReason(t *testing.T) {
	for _, err := range []error{nil, io.EOF, errors.New("not found")} {
		for reason, is := range questions {
			assert.False(t, is != nil && is(err) || api.HasReason(err, reason), "%v is %s", err, reason)
		}
		assert.False(t, api.IsTooLargeResourceVersion(err))
		assert.False(t, api.IsNamespaceTerminating(err))
		assert.Equal(t, api.ReasonUnknown, api.ReasonOf(err))
		assert.Zero(t, api.CodeOf(err))
		assert.Zero(t, api.RetryAfterOf(err))
	}
}

func TestCauses(t *testing.T) {
	with := func(cause api.CauseType) error {
		return api.NewStatusError(api.Status{Code: 403, Details: &api.StatusDetails{Causes: []api.StatusCause{{Type: "Other"}, {Type: cause}}}})
	}
	assert.True(t, api.IsNamespaceTerminating(with(api.CauseNamespaceTerminating)))
	assert.False(t, api.IsNamespaceTerminating(with(api.CauseResourceVersionTooLarge)))
	assert.True(t, api.IsTooLargeResourceVersion(with(api.CauseResourceVersionTooLarge)))
	assert.False(t, api.IsTooLargeResourceVersion(statusError(504, api.ReasonTimeout)))
}

func TestStatusErrorText(t *testing.T) {
	assert.EqualError(t, api.NewStatusError(api.Status{Message: "no", Code: 403}), "no")
	assert.EqualError(t, api.NewStatusError(api.Status{Code: 403}), "the server answered 403 Forbidden")
	assert.EqualError(t, api.NewStatusError(api.Status{Code: 500, Reason: "Odd"}), "the server answered 500 Odd")
}

func TestStatusErrorDelay(t *testing.T) {
	err := api.NewStatusError(api.Status{Code: 504, Details: &api.StatusDetails{RetryAfterSeconds: 7}})
	assert.Equal(t, 7*time.Second, api.RetryAfterOf(fmt.Errorf("x: %w", err)))
	assert.Zero(t, api.RetryAfterOf(statusError(504, "")))
	huge := api.NewStatusError(api.Status{Code: 504, Details: &api.StatusDetails{RetryAfterSeconds: 1 << 62}})
	assert.Greater(t, huge.RetryAfter, 60*365*24*time.Hour, "more than a Duration holds is very long, and not nothing")
}

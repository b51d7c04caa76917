package apierrors_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// The documents are those of kube-apiserver 1.36, without the empty metadata. No recorded
// conversation has them.
func TestRefusalsAreThoseOfTheRealServer(t *testing.T) {
	for name, c := range map[string]struct {
		err  *api.StatusError
		want string
		is   func(error) bool
	}{

		"taken generated names": {
			apierrors.GenerateNameConflict("", "configmaps", "a-x"),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"configmaps \"a-x\" already exists, the server was not able to generate a unique name for the object","reason":"AlreadyExists","details":{"name":"a-x","kind":"configmaps","retryAfterSeconds":1},"code":409}`,
			api.IsAlreadyExists,
		},

		"two errors, one of them twice": {
			apierrors.Invalid("", "ConfigMap", "a", []apierrors.FieldError{
				{Type: apierrors.FieldInvalid, Field: "metadata.deletionTimestamp", Value: "2020-01-01T00:00:00Z", Detail: "field is immutable"},
				{Type: apierrors.FieldInvalid, Field: "metadata.deletionGracePeriodSeconds", Value: int64(7), Detail: "field is immutable"},
				{Type: apierrors.FieldInvalid, Field: "metadata.deletionTimestamp", Value: "2020-01-01T00:00:00Z", Detail: "field is immutable"},
			}),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"ConfigMap \"a\" is invalid: [metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable, metadata.deletionGracePeriodSeconds: Invalid value: 7: field is immutable]","reason":"Invalid","details":{"name":"a","kind":"ConfigMap","causes":[{"reason":"FieldValueInvalid","message":"Invalid value: \"2020-01-01T00:00:00Z\": field is immutable","field":"metadata.deletionTimestamp"},{"reason":"FieldValueInvalid","message":"Invalid value: 7: field is immutable","field":"metadata.deletionGracePeriodSeconds"},{"reason":"FieldValueInvalid","message":"Invalid value: \"2020-01-01T00:00:00Z\": field is immutable","field":"metadata.deletionTimestamp"}]},"code":422}`,
			api.IsInvalid,
		},
		"no errors": {
			apierrors.Invalid("stable.example.com", "CronTab", "a", nil),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"CronTab.stable.example.com \"a\" is invalid","reason":"Invalid","details":{"name":"a","group":"stable.example.com","kind":"CronTab"},"code":422}`,
			api.IsInvalid,
		},

		"a forbidden collection": {
			apierrors.Forbidden("", "pods", "", "no"),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods is forbidden: no","reason":"Forbidden","details":{"kind":"pods"},"code":403}`,
			api.IsForbidden,
		},
		"a forbidden path": {
			apierrors.Forbidden("", "", "", `User "eve" cannot get path "/"`),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden: User \"eve\" cannot get path \"/\"","reason":"Forbidden","details":{},"code":403}`,
			api.IsForbidden,
		},

		"a future version": {
			apierrors.TooLargeVersion(99999999, 652),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Timeout: Too large resource version: 99999999, current: 652","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}`,
			api.IsTooLargeResourceVersion,
		},
		"a compacted version": {
			apierrors.Expired("The resourceVersion for the provided list is too old."),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"The resourceVersion for the provided list is too old.","reason":"Expired","code":410}`,
			api.IsExpired,
		},

		"a verb": {
			apierrors.MethodNotSupported("apps", "deployments", "create"),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"create is not supported on resources of kind \"deployments.apps\"","reason":"MethodNotAllowed","details":{"group":"apps","kind":"deployments"},"code":405}`,
			api.IsMethodNotAllowed,
		},

		"a failure": {
			apierrors.InternalError(errors.New("boom")),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Internal error occurred: boom","reason":"InternalError","details":{"causes":[{"message":"boom"}]},"code":500}`,
			api.IsInternalError,
		},
		"an error without a reason": {
			apierrors.Unclassified("resourceVersion should not be set on objects to be created"),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"resourceVersion should not be set on objects to be created","code":500}`,
			api.IsInternalError,
		},
		"unavailable": {
			apierrors.ServiceUnavailable("shutting down"),
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"shutting down","reason":"ServiceUnavailable","code":503}`, api.IsServiceUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(c.err.Status)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(data))
			assert.True(t, c.is(c.err))
			assert.Equal(t, c.err.Status.Message, c.err.Error())
		})
	}
}

func TestRetryAfter(t *testing.T) {
	assert.Equal(t, time.Second, apierrors.TooLargeVersion(2, 1).RetryAfter)
	assert.Equal(t, http.StatusGatewayTimeout, apierrors.Timeout("slow", 0).Status.Code)
	assert.Zero(t, apierrors.Timeout("slow", 0).RetryAfter)
}

func TestRefusalsAreNotShared(t *testing.T) {
	apierrors.MethodNotAllowed("x").Status.Details.Name = "changed"
	assert.Empty(t, apierrors.MethodNotAllowed("x").Status.Details.Name)
}

func TestFieldErrors(t *testing.T) {
	for want, e := range map[string]apierrors.FieldError{
		`f: Required value`:                                {Type: apierrors.FieldRequired, Field: "f", Value: "not shown"},
		`f: Invalid value: "A\"b": no`:                     {Type: apierrors.FieldInvalid, Field: "f", Value: `A"b`, Detail: "no"},
		`f: Invalid value: ["a","b"]: no`:                  {Type: apierrors.FieldInvalid, Field: "f", Value: []string{"a", "b"}, Detail: "no"},
		`f: Invalid value: null`:                           {Type: apierrors.FieldTypeInvalid, Field: "f"},
		`f: Invalid value: +Inf`:                           {Type: apierrors.FieldInvalid, Field: "f", Value: math.Inf(1)},
		`f: Unsupported value: "x": supported values: "a"`: {Type: apierrors.FieldNotSupported, Field: "f", Value: "x", Detail: `supported values: "a"`},
		`f: Duplicate value: "x"`:                          {Type: apierrors.FieldDuplicate, Field: "f", Value: "x"},
		`f: Forbidden: no`:                                 {Type: apierrors.FieldForbidden, Field: "f", Value: "not shown", Detail: "no"},
		`f: Too long: may not be more than 5 bytes`:        {Type: apierrors.FieldTooLong, Field: "f", Value: "not shown", Detail: "may not be more than 5 bytes"},
		`f: Too many: 5: must have at most 3 items`:        {Type: apierrors.FieldTooMany, Field: "f", Value: 5, Detail: "must have at most 3 items"},
	} {
		assert.Equal(t, want, e.Error())
	}
}

package restclient

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"orrery/restclient/api"
)

// FuzzRefusal feeds any error body: there is always an error with the code and some text, and no
// secret in it.
func FuzzRefusal(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"Status","status":"Failure","message":"m","reason":"NotFound","code":404,"details":{"retryAfterSeconds":3}}`,
		`{"kind":"Status"}`, `404 page not found`, `<html>`, ``, `{"kind":"Status","details":{"retryAfterSeconds":-1}}`, "\xff\xfe",
	} {
		f.Add(404, []byte(seed))
		f.Add(500, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		req := &Request{Path: "/"}
		err := parseRefusal(req, code, body)
		if err.Error() == "" || err.RetryAfter < 0 {
			t.Fatalf("%d %q: %#v", code, body, err)
		}
		if err.Status.Code == 0 && code != 0 {
			t.Fatalf("%d %q: no code", code, body)
		}
		if len(err.Error()) > 5*api.MaxText || !utf8.ValidString(err.Error()) {
			t.Fatalf("%d %q: a text of %d bytes", code, body, len(err.Error()))
		}
		var want api.Status
		if json.Unmarshal(body, &want) != nil || want.Kind != "Status" {
			return
		}
		got := err.Status
		if want.Code == 0 {
			want.Code = code
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d %q: %+v, want %+v", code, body, got, want)
		}
		if asked := want.Details != nil && want.Details.RetryAfterSeconds > 0; asked != (err.RetryAfter > 0) {
			t.Fatalf("%d %q: to be asked again in %v", code, body, err.RetryAfter)
		}
	})
}

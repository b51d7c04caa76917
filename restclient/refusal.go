package restclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

// refused reads an answer that is not 2xx, and closes it.
func (x *exchange) refused(u *url.URL, answer *http.Response) failure {
	defer answer.Body.Close()
	if answer.StatusCode/100 == 3 {
		return failure{err: &TransportError{Kind: Redirected, Verb: x.req.method(), URL: redactURL(u),
			Err: redirected(answer, u)}}
	}
	// An error while reading the body is ignored: the code alone is enough.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if u.Scheme == "http" && answer.StatusCode == http.StatusBadRequest && spokeHTTPToTLS(body) {
		return failure{err: &TransportError{Kind: NeedsTLS, Verb: x.req.method(), URL: redactURL(u),
			Err: errors.New(errorText(body))}}
	}
	status := parseRefusal(&x.req, answer.StatusCode, body)
	status.Verb, status.URL = x.req.method(), redactURL(u)
	f := failure{err: status}
	f.retryAfter, f.asked = parseRetryAfter(answer.Header, time.Now())
	if f.asked {
		status.RetryAfter = f.retryAfter
	}
	return f
}

// redirected returns the error of an answer that sends the client elsewhere. It is never followed:
// API servers do not redirect API requests. A hostile one could turn a write into another write, or
// have credentials sent to another server.
func redirected(answer *http.Response, u *url.URL) error {
	place := "an unknown place"
	location := answer.Header.Get("Location")
	if target, err := u.Parse(location); err == nil && location != "" && target.Host != "" {
		place = api.CutText(strconv.Quote(target.Host))
	}
	return fmt.Errorf("%d, a redirect to %s", answer.StatusCode, place)
}

// spokeHTTPToTLS recognises the page with which Go's TLS server answers plain HTTP, by its text.
func spokeHTTPToTLS(body []byte) bool {
	return strings.HasPrefix(string(body), "Client sent an HTTP request to an HTTPS server")
}

// parseRefusal returns the typed error of an error answer: from the Status in its body, or from the
// code if a proxy or a plain handler answered with text.
func parseRefusal(req *Request, code int, body []byte) *api.StatusError {
	var status api.Status
	if api.Unmarshal(body, &status) == nil && status.Kind == "Status" {
		if status.Code == 0 {
			status.Code = code
		}
		return api.NewStatusError(status)
	}
	return &api.StatusError{Status: genericStatus(req, code, errorText(body))}
}

// genericStatus returns the Status for a code without one. Reasons, messages and the cause are
// those of other Kubernetes clients: they appear in conditions, where people and tests read them.
func genericStatus(req *Request, code int, text string) api.Status {
	status := api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   api.StatusFailure,
		Code:     code,
		Reason:   api.ReasonForCode(code, req.method() == http.MethodPost),
		Message:  genericMessage(code, text),
		Details: &api.StatusDetails{
			Group: req.about.Resource.Group,
			Kind:  req.about.Resource.Resource,
			Name:  req.about.Name,
			Causes: []api.StatusCause{{
				Type:    api.CauseUnexpectedServerResponse,
				Message: text,
			}},
		},
	}
	if about := req.about.Resource.TypeName(); about != "" {
		what := []string{strings.ToLower(req.method()), about}
		if req.about.Name != "" {
			what = append(what, req.about.Name)
		}
		status.Message += " (" + strings.Join(what, " ") + ")"
	}
	return status
}

var genericMessages = map[int]string{
	http.StatusBadRequest:          "the server rejected our request for an unknown reason",
	http.StatusUnauthorized:        "the server has asked for the client to provide credentials",
	http.StatusNotFound:            "the server could not find the requested resource",
	http.StatusMethodNotAllowed:    "the server does not allow this method on the requested resource",
	http.StatusConflict:            "the server reported a conflict",
	http.StatusUnprocessableEntity: "the server rejected our request due to an error in our request",
	http.StatusTooManyRequests:     "the server has received too many requests and has asked us to try again later",
	http.StatusServiceUnavailable:  "the server is currently unable to handle the request",
	http.StatusGatewayTimeout: "the server was unable to return a response in the time allotted, but may " +
		"still be processing the request",
}

func genericMessage(code int, text string) string {
	if message, ok := genericMessages[code]; ok {
		return message
	}
	switch {
	case code == http.StatusNotAcceptable && text == unknownText:
		return "the server was unable to respond with a content type that the client supports"
	case code == http.StatusForbidden, code == http.StatusUnsupportedMediaType, code == http.StatusNotAcceptable:
		return text
	case code >= 500:
		return fmt.Sprintf("an error on the server (%q) has prevented the request from succeeding", text)
	}
	return fmt.Sprintf("the server responded with the status code %d but did not return more information", code)
}

const unknownText = "unknown"

func errorText(body []byte) string {
	text := strings.TrimSpace(string(body))
	if text == "" {
		return unknownText
	}
	return Redact(strings.ToValidUTF8(api.CutText(text), "?"))
}

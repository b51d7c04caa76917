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

// maxErrorBody is how much of an error body is read, in bytes.
const maxErrorBody = 1 << 20

// refused reads an answer that is not 2xx, and closes it.
func (x *exchange) refused(u *url.URL, answer *http.Response) failure {
	defer answer.Body.Close()
	if answer.StatusCode/100 == 3 {
		return failure{err: &RedirectError{
			Verb: x.req.method(), URL: redactURL(u), Code: answer.StatusCode, Host: targetOf(answer, u),
		}}
	}
	// An error while reading the body is ignored: the code alone is enough.
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
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

// RedirectError says that the answer sends the client elsewhere. It is never followed: API servers
// do not redirect API requests. A hostile one could turn a write into another write, or have
// credentials sent to another server.
type RedirectError struct {
	Verb, URL string
	Code      int
	Host      string // and port, of the Location; empty if that is missing or no URL
}

func (e *RedirectError) Error() string {
	place := "an unknown place"
	if e.Host != "" {
		place = api.CutText(strconv.Quote(e.Host))
	}
	return fmt.Sprintf("%s %s: the server answered %d, a redirect to %s, which is not followed: "+
		"no API server does that (is it a proxy or a login page?)", e.Verb, e.URL, e.Code, place)
}

// targetOf returns the host and port to which an answer redirects.
func targetOf(answer *http.Response, u *url.URL) string {
	location := answer.Header.Get("Location")
	target, err := u.Parse(location)
	if err != nil || location == "" {
		return ""
	}
	return target.Host
}

// spokeHTTPToTLS recognises the page with which Go's TLS server, and so kube-apiserver, answers
// plain HTTP. Only its text identifies it.
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
	switch code {
	case http.StatusForbidden, http.StatusUnsupportedMediaType:
		return text
	case http.StatusNotAcceptable:
		if text == unknownText {
			return "the server was unable to respond with a content type that the client supports"
		}
		return text
	}
	if code >= 500 {
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

// CertificateExpiredError explains a 401: the client certificate has expired. The server itself
// only says "Unauthorized". It wraps the server's answer.
type CertificateExpiredError struct {
	NotAfter time.Time // end of validity
	Err      error
}

func (e *CertificateExpiredError) Error() string {
	return fmt.Sprintf("the client certificate expired at %s and has not been renewed: %v",
		e.NotAfter.UTC().Format(time.RFC3339), e.Err)
}

func (e *CertificateExpiredError) Unwrap() error { return e.Err }

// explainUnauthorized adds the cause of a 401 if it is known. It uses the server's clock if the
// answer has a date: the server checks the certificate.
func (p *pool) explainUnauthorized(err error, date string) error {
	if api.CodeOf(err) != http.StatusUnauthorized {
		return err
	}
	p.mu.Lock()
	certificate := p.certificate
	p.mu.Unlock()
	if certificate == nil || certificate.Leaf == nil { // crypto/tls sets Leaf
		return err
	}
	now := time.Now()
	if serverNow, problem := http.ParseTime(date); problem == nil {
		now = serverNow
	}
	if !now.After(certificate.Leaf.NotAfter) {
		return err
	}
	return &CertificateExpiredError{NotAfter: certificate.Leaf.NotAfter, Err: err}
}

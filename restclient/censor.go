package restclient

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// censor takes the secrets that a request was sent with out of what came back. A server may repeat a header that it does
// not like, in the message of a refusal, in a warning, or in bytes that are no HTTP at all; and such texts go far: into
// logs, into the conditions of a namespace, where everybody reads them. The patterns of redactText know a token by what
// stands before it, this one knows the token.
//
// A secret that is an ordinary word, or very short, is not looked for, see ordinaryWords: then the patterns have to do.
type censor []string

// shortestSecret: what is shorter is not looked for, or it would be found in every other word.
const shortestSecret = 6

const censored = "[redacted]"

// censorFor finds the secrets of a request and of the proxy that it goes through, which may be nil.
func censorFor(sent *http.Request, proxy *url.URL) censor {
	var c censor
	add := func(secret string) {
		if isOrdinary(secret) || slices.Contains(c, secret) {
			return
		}
		c = append(c, secret)
		if quoted := strconv.Quote(secret); quoted[1:len(quoted)-1] != secret { // as errors quote what they choke on
			c = append(c, quoted[1:len(quoted)-1])
		}
	}
	if sent != nil {
		if _, password, ok := sent.BasicAuth(); ok {
			add(password)
		}
		if scheme, secret, ok := strings.Cut(sent.Header.Get("Authorization"), " "); ok {
			add(strings.TrimSpace(secret))
		} else {
			add(scheme)
		}
	}
	if proxy != nil && proxy.User != nil {
		password, _ := proxy.User.Password()
		add(password)
		asHeader := http.Request{Header: http.Header{}}
		asHeader.SetBasicAuth(proxy.User.Username(), password)
		add(strings.TrimPrefix(asHeader.Header.Get("Authorization"), "Basic "))
	}
	return c
}

// SecretsOf returns the secrets that a request carries: what a log must not show, wherever it got it from. Ordinary words, and
// what has less than six bytes, are not among them: they would be found in every other line, and be told by what is missing
// there.
func SecretsOf(sent *http.Request) []string { return censorFor(sent, nil) }

func (c censor) text(text string) string {
	for _, secret := range c {
		text = strings.ReplaceAll(text, secret, censored)
	}
	return text
}

func (c censor) finds(text string) bool {
	return slices.ContainsFunc(c, func(secret string) bool { return strings.Contains(text, secret) })
}

// status changes what a server said.
func (c censor) status(status *api.Status) {
	if status == nil || len(c) == 0 {
		return
	}
	status.Message = c.text(status.Message)
	status.Reason = api.StatusReason(c.text(string(status.Reason)))
	if status.Details == nil {
		return
	}
	status.Details.Name, status.Details.Kind = c.text(status.Details.Name), c.text(status.Details.Kind)
	for i := range status.Details.Causes {
		cause := &status.Details.Causes[i]
		cause.Message, cause.Field = c.text(cause.Message), c.text(cause.Field)
	}
}

// error returns the error without secrets. One that has none is returned as it is.
func (c censor) error(err error) error {
	if err == nil || len(c) == 0 {
		return err
	}
	if refused, ok := errors.AsType[*api.StatusError](err); ok {
		c.status(&refused.Status)
	}
	if broken, ok := errors.AsType[*TransportError](err); ok && c.finds(broken.Err.Error()) {
		broken.Err = &censoredError{text: c.text(broken.Err.Error()), err: broken.Err}
	}
	if unreadable, ok := errors.AsType[*DecodeError](err); ok && c.finds(unreadable.Err.Error()) {
		unreadable.Err = &censoredError{text: c.text(unreadable.Err.Error()), err: unreadable.Err}
	}
	return err
}

// censoredError says the same as another error, without secrets. It is still of the other's kind.
type censoredError struct {
	text string
	err  error
}

func (e *censoredError) Error() string { return e.text }

func (e *censoredError) Unwrap() error { return e.err }

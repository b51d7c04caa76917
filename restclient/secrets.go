package restclient

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// censor removes the secrets of a request from what the server returns. A server may repeat a
// header in a refusal, in a warning, or in bytes that are not HTTP; and such texts end up in logs
// and in the conditions of namespaces. Redact recognizes a token by its context, censor by its
// value.
type censor []string

// shortestSecret is the minimum length of a censored secret; a shorter one would match parts of
// other words.
const shortestSecret = 6

const censored = "[redacted]"

// censorFor returns the secrets of a request and of its proxy, which may be nil.
func censorFor(sent *http.Request, proxy *url.URL) censor {
	var c censor
	add := func(secret string) {
		if len(secret) < shortestSecret || slices.Contains(c, secret) {
			return
		}
		c = append(c, secret)
		if quoted := strconv.Quote(secret); quoted[1:len(quoted)-1] != secret { // as errors quote values
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

// censor returns the secrets of the last attempt, including those that its proxy receives.
func (x *exchange) censor() censor {
	var proxy *url.URL
	if x.sent != nil {
		proxy, _ = x.client.pool.proxy(x.sent)
	}
	return censorFor(x.sent, proxy)
}

// SecretsOf returns the secrets of a request, which a log must not contain. Those of less than six
// bytes are not included: they would match in every other line, and the gaps would reveal them.
func SecretsOf(sent *http.Request) []string { return censorFor(sent, nil) }

func (c censor) text(text string) string {
	for _, secret := range c {
		text = strings.ReplaceAll(text, secret, censored)
		text = withoutCutSecret(text, secret)
	}
	return text
}

// withoutCutSecret removes the beginning of a secret in which api.CutText has cut a text.
func withoutCutSecret(text, secret string) string {
	for n := len(secret) - 1; n >= shortestSecret && strings.Contains(text, api.CutMark); n-- {
		text = strings.ReplaceAll(text, secret[:n]+api.CutMark, censored+api.CutMark)
	}
	return text
}

func (c censor) finds(text string) bool { return c.text(text) != text }

// status censors a server's Status.
func (c censor) status(status *api.Status) {
	if status == nil || len(c) == 0 {
		return
	}
	status.Status, status.Message = c.text(status.Status), c.text(status.Message)
	status.Reason = api.StatusReason(c.text(string(status.Reason)))
	d := status.Details
	if d == nil {
		return
	}
	d.Name, d.Group, d.Kind, d.UID = c.text(d.Name), c.text(d.Group), c.text(d.Kind), c.text(d.UID)
	for i, cause := range d.Causes {
		d.Causes[i] = api.StatusCause{
			Type: api.CauseType(c.text(string(cause.Type))), Message: c.text(cause.Message), Field: c.text(cause.Field)}
	}
}

// error returns the error without secrets, unchanged if it has none.
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

// censoredError is an error with a censored text. It wraps the original.
type censoredError struct {
	text string
	err  error
}

func (e *censoredError) Error() string { return e.text }

func (e *censoredError) Unwrap() error { return e.err }

// secretPatterns match secrets in texts of other packages and of servers: a proxy URL with its
// password, a header.
var secretPatterns = []struct {
	pattern *regexp.Regexp
	keep    string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+`), "$1 [redacted]"},
	{regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s"]*@`), "${1}[redacted]@"},
	{regexp.MustCompile(`(?i)\b((?:\w+_)?(?:token|password|secret))=[^&\s"]+`), "$1=[redacted]"},
}

// Redact returns text without likely secrets: the word after "bearer" or "basic", even in prose; the
// user and password of a URL; and tokens, passwords and secrets in its parameters. The package
// redacts the causes in ConfigError and TransportError, and refusals without a Status.
func Redact(text string) string {
	for _, s := range secretPatterns {
		text = s.pattern.ReplaceAllString(text, s.keep)
	}
	return text
}

// redactURL formats a URL for an error or a trace, without user and password and without the values
// of unknown parameters.
func redactURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	shown.RawQuery = redactQuery(u.Query())
	return shown.String()
}

var harmlessParameters = map[string]bool{
	"watch": true, "limit": true, "resourceVersion": true, "resourceVersionMatch": true, "timeoutSeconds": true,
	"timeout": true, "allowWatchBookmarks": true, "sendInitialEvents": true, "labelSelector": true,
	"fieldSelector": true, "dryRun": true, "fieldManager": true, "force": true, "pretty": true, "continue": true,
	"fieldValidation": true, "propagationPolicy": true, "gracePeriodSeconds": true,
}

func redactQuery(query url.Values) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[key] {
			switch {
			case !harmlessParameters[key]:
				value = censored
			case key == "continue":
				value = "[...]" // a page token is long and meaningless
			default:
				value = url.QueryEscape(value)
			}
			parts = append(parts, url.QueryEscape(key)+"="+value)
		}
	}
	return strings.Join(parts, "&")
}

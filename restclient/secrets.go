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

// censor takes the secrets that a request was sent with out of what came back. A server may repeat a header that it does
// not like, in the message of a refusal, in a warning, or in bytes that are no HTTP at all; and such texts go far: into
// logs, into the conditions of a namespace, where everybody reads them. The patterns of Redact know a token by what
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

// Errors of other packages quote what they choke on: a proxy URL with its password, a header. These patterns are what
// such a text may hold of secrets; everything that this package says in an error goes through Redact.
var secretPatterns = []struct {
	pattern *regexp.Regexp
	keep    string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+`), "$1 [redacted]"},
	{regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s"@]*@`), "${1}[redacted]@"},
	{regexp.MustCompile(`(?i)\b((?:access_|id_|refresh_)?token|password|secret)=[^&\s"]+`), "$1=[redacted]"},
}

// Redact returns a text without what looks like a secret in it: the rest of an Authorization header, the user and password
// of a URL, tokens and passwords among its parameters. Errors of this package have gone through it; it is for texts of other
// origin that come into the same logs.
func Redact(text string) string {
	for _, s := range secretPatterns {
		text = s.pattern.ReplaceAllString(text, s.keep)
	}
	return text
}

// redactURL shows a URL in an error or a trace: without user and password, and without the values of parameters
// that are not known to be harmless.
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
				value = "[redacted]"
			case key == "continue":
				value = "[...]" // a page token is long and says nothing
			default:
				value = url.QueryEscape(value)
			}
			parts = append(parts, url.QueryEscape(key)+"="+value)
		}
	}
	return strings.Join(parts, "&")
}

// ordinaryWords are words that every log, condition and error of a cluster contains. A password that is one of them is not
// censored: a log without its words is of no use, and the gaps would tell the password.
var ordinaryWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`default kubernetes kube-system kube-public kube-node-lease minikube orrery localhost
		namespace namespaces configmap configmaps deployment deployments service services secret secrets endpoints events leases
		account system master masters server client cluster context config kubeconfig controller object resource resources
		password bearer anonymous authenticated unknown request response connection certificate version status
		finalizer finalizers metadata delete deleted deletecollection update create failed failure failures error errors
		success warning active terminating condition discovery remaining content reason message informer handler worker
		pending bookmark development production staging testing
		badrequest unauthorized forbidden notfound methodnotallowed notacceptable alreadyexists conflict expired invalid
		requestentitytoolarge unsupportedmediatype toomanyrequests internalerror serviceunavailable servertimeout timeout
		storagereaderror`) {
		words[word] = true
	}
	return words
}()

// isOrdinary reports whether a secret cannot be told from the words around it.
func isOrdinary(secret string) bool {
	return len(secret) < shortestSecret || ordinaryWords[strings.ToLower(secret)]
}

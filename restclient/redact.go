package restclient

import (
	"net/url"
	"regexp"
	"strings"
)

// Errors of other packages quote what they choke on: a proxy URL with its password, a header. These patterns are what
// such a text may hold of secrets; everything that this package says in an error goes through redactText.
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
func Redact(text string) string { return redactText(text) }

func redactText(text string) string {
	for _, s := range secretPatterns {
		text = s.pattern.ReplaceAllString(text, s.keep)
	}
	return text
}

// redactHost shows the host of a configuration, which nobody has checked yet. What is not a URL is not shown: there may be
// a password in it, and nothing to tell it by.
func redactHost(host string) string {
	text, scheme := host, strings.Contains(host, "://")
	if !scheme {
		text = "//" + host
	}
	u, err := url.Parse(text)
	if err != nil || scheme && u.Scheme == "" || u.Host == "" {
		return "[not a URL]"
	}
	return strings.TrimPrefix(redactURL(u), "//")
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
	for _, key := range sortedKeys(query) {
		for _, value := range query[key] {
			switch {
			case !harmlessParameters[key]:
				value = "[redacted]"
			case key == "continue":
				value = "[...]" // a page token is long and tells nobody anything
			default:
				value = url.QueryEscape(value)
			}
			parts = append(parts, url.QueryEscape(key)+"="+value)
		}
	}
	return strings.Join(parts, "&")
}

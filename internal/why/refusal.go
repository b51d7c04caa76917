package why

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This page reads the condition ContentFailure, in which the controller joins the server's texts.

// lazyPattern returns a function that returns a regular expression, compiled at its first use:
// "orrery run" has this package in it and needs none of its expressions.
func lazyPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// The servers' words in the condition ContentFailure.
var (
	failedCalling = lazyPattern(`(?s)failed calling webhook "([^"]+)": (.*)`)
	webhookDenied = lazyPattern(`(?s)admission webhook "([^"]+)" denied the request(?:: (.*))?`)
	policyDenied  = lazyPattern(`(?s)ValidatingAdmissionPolicy '([^']+)' (?:with binding '([^']+)' )?denied request: (.*)`)
)

// about returns the match of a pattern in one server text. It returns nil if another of these
// patterns matches earlier: the message of a webhook or a policy may quote such words.
func about(pattern *regexp.Regexp, text string) []string {
	first := pattern.FindStringIndex(text)
	if first == nil {
		return nil
	}
	for _, other := range []*regexp.Regexp{failedCalling(), webhookDenied(), policyDenied()} {
		if at := other.FindStringIndex(text); at != nil && at[0] < first[0] {
			return nil
		}
	}
	return pattern.FindStringSubmatch(text)
}

// denies reports whether a text has the denial of a webhook or a policy, whose message may quote
// anything.
func denies(text string) bool {
	return webhookDenied().MatchString(text) || policyDenied().MatchString(text)
}

// beginning matches the start of one server text. The controller joins the texts in ContentFailure
// with commas, and a text may have commas itself.
var beginning = lazyPattern(`^(?:Internal error occurred: |admission webhook "|conversion webhook for ` +
	`|unexpected items still remain in namespace|[a-z0-9.-]+ (?:"[^"]*" )?is forbidden: |unable to transform key|failed to read one or more ` +
	`|ValidatingAdmissionPolicy '|the server (?:could not|was unable|has asked|is currently|rejected|does not allow|responded|has received) |storage is \(re\)initializing|Operation cannot be fulfilled |Timeout: |etcdserver: |rpc error: |an error on the server |client rate limiter |context deadline exceeded|unexpected EOF|(?:Get|Post|Delete|Put) "http)`)

// texts returns the server's texts in ContentFailure, one each.
func texts(content string) (all []string) {
	if _, after, ok := strings.Cut(content, " remaining: "); ok {
		content = after
	}
	for from := 0; ; {
		comma := strings.Index(content[from:], ", ")
		if comma < 0 {
			return append(all, content)
		}
		if at := from + comma; beginning().MatchString(content[at+2:]) {
			all, content, from = append(all, content[:at]), content[at+2:], 0
		} else {
			from = at + 2
		}
	}
}

// isCalledBy reports whether the error of a call has the URL or the Service of the webhook, or
// neither of any.
func (w *Webhook) isCalledBy(text string) bool {
	byURL, byName := strings.Contains(text, `"https://`), strings.Contains(text, `service "`)
	if w.Service == nil {
		return !byURL || strings.Contains(text, `"`+w.URL)
	}
	return !byURL && !byName ||
		byURL && strings.Contains(text, `"https://`+w.Service.Name+"."+w.Service.Namespace+".svc") ||
		byName && strings.Contains(text, `service "`+w.Service.Name+`"`)
}

// matchedOnce yields the first two groups of each match, each first group once, in the order of the
// text.
func matchedOnce(pattern *regexp.Regexp, text string) func(yield func(name, rest string) bool) {
	return func(yield func(string, string) bool) {
		seen := map[string]bool{}
		for _, one := range texts(text) {
			if match := about(pattern, one); match != nil && !seen[match[1]] {
				seen[match[1]] = true
				if !yield(match[1], strings.TrimSpace(match[2])) {
					return
				}
			}
		}
	}
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

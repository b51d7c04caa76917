package restclient

import (
	"net/http"
	"strconv"
	"strings"
)

// Warning is a remark of the server about a request that it answered all the same (HTTP header "Warning" with code 299,
// KEP-1693), or one of this package (Code 0).
type Warning struct {
	Code  int
	Agent string
	Text  string
	// Origin is what the request was made on behalf of, see [WithOrigin]. Empty: not known.
	Origin string
}

// WarningHandler receives warnings. It may be called from many goroutines at once and must not block.
type WarningHandler func(Warning)

// parseWarnings reads Warning headers (RFC 9110's predecessor, RFC 7234 section 5.5): code, agent, quoted text and
// possibly a quoted date, several separated by commas. What does not follow that is skipped: a warning is not worth
// failing for.
func parseWarnings(header http.Header) []Warning {
	var warnings []Warning
	for _, line := range header.Values("Warning") {
		for line != "" {
			var w Warning
			var ok bool
			if w, line, ok = cutWarning(line); !ok {
				break
			}
			if w.Code == 299 { // "miscellaneous persistent warning", the one that API servers send
				warnings = append(warnings, w)
			}
		}
	}
	return warnings
}

func cutWarning(line string) (w Warning, rest string, ok bool) {
	code, rest, ok := strings.Cut(strings.TrimLeft(line, " ,"), " ")
	if !ok {
		return w, "", false
	}
	number, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 {
		return w, "", false
	}
	agent, rest, ok := strings.Cut(rest, " ")
	if !ok {
		return w, "", false
	}
	text, rest, ok := cutQuoted(rest)
	if !ok {
		return w, "", false
	}
	if _, after, dated := cutQuoted(strings.TrimLeft(rest, " ")); dated {
		rest = after
	}
	return Warning{Code: number, Agent: agent, Text: text}, rest, true
}

// cutQuoted takes an HTTP quoted-string from the front of s.
func cutQuoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return out.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", s, false
			}
		}
		out.WriteByte(s[i])
	}
	return "", s, false
}

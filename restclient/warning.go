package restclient

import (
	"context"
	"net/http"
	"regexp"

	"orrery/restclient/api"
)

// Warning is a server's warning about a request that it has answered (HTTP header "Warning" with
// code 299, KEP-1693), or one of this package (Code 0).
type Warning struct {
	Code  int
	Agent string
	Text  string
	// Origin identifies the caller, see [WithOrigin]. Empty: unknown.
	Origin string
}

// warningValues matches the values of Warning headers (RFC 7234 section 5.5): code, agent, quoted
// text and possibly a quoted date, separated by commas. Malformed values are skipped.
var (
	warningValues = regexp.MustCompile(`(?:^|[ ,])(\d{3}) (\S+) "((?:[^"\\]|\\.)*)"(?: *"[^"]*")?`)
	quotedPair    = regexp.MustCompile(`\\(.)`)
)

// miscellaneous is the code of API servers' warnings.
const miscellaneous = "299"

func parseWarnings(header http.Header) []Warning {
	var warnings []Warning
	for _, line := range header.Values("Warning") {
		for _, found := range warningValues.FindAllStringSubmatch(line, -1) {
			if found[1] == miscellaneous {
				text := quotedPair.ReplaceAllString(found[3], "$1")
				warnings = append(warnings, Warning{Code: 299, Agent: found[2], Text: text})
			}
		}
	}
	return warnings
}

// warn reports the warnings of an answer.
func (x *exchange) warn(ctx context.Context, header http.Header) {
	for _, w := range parseWarnings(header) {
		w.Text, w.Origin = api.CutText(x.censor(nil).text(w.Text)), OriginOf(ctx)
		x.client.warn(w)
	}
}

func (c *Client) warn(w Warning) {
	if t := c.cfg.Trace; t != nil && t.Warning != nil {
		t.Warning(w)
	}
}

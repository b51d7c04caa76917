// Package negotiation determines the form of an answer from the Accept header: the whole object,
// its metadata, or a table, always in JSON. The client's order and weights decide among the forms
// that the server supports, so a client that prefers protobuf and accepts JSON gets JSON. If there
// is none, the request is refused with 406.
package negotiation

import (
	"cmp"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// JSON is the media type of every answer.
const JSON = "application/json"

// The messages of kube-apiserver. Which one a client gets depends on whether the media type or its
// parameters are unknown.
const (
	UnknownTypes  = "406: Not Acceptable\n\nAvailable representations: application/json"
	UnknownForms  = "only the following media types are accepted: application/json"
	UnknownStream = "only the following media types are accepted: application/json;stream=watch"
)

// Rules describe the forms that an endpoint supports.
type Rules struct {
	// Convert allows tables and metadata.
	Convert bool
	// Custom marks custom resources, whose requests do not pass the router that refuses unknown
	// media types.
	Custom bool
	// Stream marks a watch.
	Stream bool
}

// Negotiate returns the form for the Accept header of a request. If there is none, refusal is the
// message of the 406, and form is the form of the error.
func Negotiate(r *http.Request, rules Rules) (form Form, refusal string) {
	pretty := isPretty(r.URL.RawQuery, r.UserAgent())
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return Form{Pretty: pretty}, ""
	}
	known := false
	for _, c := range parseAccept(header) {
		if c.mediaType != "*/*" && c.mediaType != JSON {
			continue
		}
		form, known = Form{Pretty: pretty}, true
		if candidate, ok := c.form(rules); ok {
			candidate.Pretty = candidate.Pretty || pretty
			return candidate, ""
		}
	}
	switch {
	case !known && !rules.Stream && !rules.Custom:
		return Form{Pretty: pretty}, UnknownTypes
	case rules.Stream:
		return form, UnknownStream
	}
	return form, UnknownForms
}

// form returns the form that the clause requests, if the endpoint supports it.
func (c clause) form(rules Rules) (Form, bool) {
	form := Form{As: Conversion(c.params["as"]), Version: c.params["v"]}
	if stream := c.params["stream"]; stream != "" && (stream != "watch" || !rules.Stream) {
		return Form{}, false
	}
	form.Pretty = c.params["pretty"] == "1" || c.params["pretty"] == "true"
	switch form.As {
	case "":
		form.Version = ""
		return form, true
	case Table, PartialObjectMetadata, PartialObjectMetadataList:
		known := form.Version == "v1" || form.Version == "v1beta1"
		return form, rules.Convert && known && c.params["g"] == "meta.k8s.io"
	}
	return Form{}, false
}

// isPretty reports whether the answer should be indented: if the query says so, or for curl, wget
// and browsers.
func isPretty(rawQuery, userAgent string) bool {
	if strings.Contains(rawQuery, "pretty") {
		if values, given := lenientQuery(rawQuery)["pretty"]; given {
			return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
		}
	}
	return strings.HasPrefix(userAgent, "curl") || strings.HasPrefix(userAgent, "Wget") || strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// lenientQuery parses the valid parts of a query.
func lenientQuery(raw string) url.Values {
	values, _ := url.ParseQuery(raw)
	return values
}

// Form is the form of an answer.
type Form struct {
	// As is the kind to convert to; "" means the object itself.
	As Conversion
	// Version is the version of meta.k8s.io to convert to, "v1" or "v1beta1".
	Version string
	// Pretty indents the document.
	Pretty bool
}

// Conversion is a kind that objects can be converted to.
type Conversion string

const (
	Table                     Conversion = "Table"
	PartialObjectMetadata     Conversion = "PartialObjectMetadata"
	PartialObjectMetadataList Conversion = "PartialObjectMetadataList"
)

// maxClauses limits the part of an Accept header that is parsed.
const maxClauses = 32

// clause is a media type in an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
	weight    float64
}

// parseAccept parses an Accept header, highest weight first. It skips invalid clauses.
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		if len(clauses) == maxClauses {
			break
		}
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, given := params["q"]; given {
			if parsed, err := strconv.ParseFloat(q, 64); err == nil {
				weight = parsed
			}
		}
		clauses = append(clauses, clause{mediaType: mediaType, params: params, weight: weight})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.weight, a.weight) })
	return clauses
}

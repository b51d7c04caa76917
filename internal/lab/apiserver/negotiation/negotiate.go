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

// The messages with which kube-apiserver refuses a form, for the media types that this server has. Which of the two a client
// gets depends on whether a type is unknown or its parameters.
const (
	UnknownTypes  = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml"
	UnknownForms  = "only the following media types are accepted: application/json, application/yaml"
	UnknownStream = "only the following media types are accepted: application/json;stream=watch"
)

// Rules say what an endpoint can be asked for.
type Rules struct {
	// Convert: the endpoint's objects can be had as tables and as metadata alone.
	Convert bool
	// Custom: the resource is not one of the original's own, and its requests do not pass the router that refuses unknown types.
	Custom bool
	// Stream: the answer is a watch, which there is only in JSON.
	Stream bool
}

// Negotiate reads the Accept header of a request. If there is no form that both sides know, refusal is the message to refuse with,
// and form is how to write the refusal.
func Negotiate(r *http.Request, rules Rules) (form Form, refusal string) {
	pretty := isPretty(r.URL.RawQuery, r.UserAgent())
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return Form{Pretty: pretty}, ""
	}
	known := false
	for _, c := range parseAccept(header) {
		yaml, ok := kindOf(c.mediaType)
		if !ok {
			continue
		}
		if !known {
			form = Form{YAML: yaml, Pretty: pretty}
		}
		known = true
		if candidate, ok := c.form(yaml, rules); ok {
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

// kindOf tells whether this server has the media type, and whether it is YAML.
func kindOf(mediaType string) (yaml, ok bool) {
	switch mediaType {
	case "*/*", "application/json":
		return false, true
	case "application/yaml":
		return true, true
	}
	return false, false
}

// form is what the clause asks for, if the endpoint has it.
func (c clause) form(yaml bool, rules Rules) (Form, bool) {
	form := Form{YAML: yaml, As: Conversion(c.params["as"]), Version: c.params["v"]}
	if yaml && rules.Stream {
		return Form{}, false
	}
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

// isPretty tells whether an answer is for a person: who says so in the query, or uses a tool of people.
func isPretty(rawQuery, userAgent string) bool {
	if strings.Contains(rawQuery, "pretty") {
		if values, given := lenientQuery(rawQuery)["pretty"]; given {
			return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
		}
	}
	return strings.HasPrefix(userAgent, "curl") || strings.HasPrefix(userAgent, "Wget") || strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// lenientQuery reads what can be read of a query.
func lenientQuery(raw string) url.Values {
	values, _ := url.ParseQuery(raw)
	return values
}

// Form is how an answer is to look.
type Form struct {
	// YAML instead of JSON.
	YAML bool
	// As is the kind to convert to; "" for the object as it is.
	As Conversion
	// Version is that of meta.k8s.io to convert to, "v1" or "v1beta1".
	Version string
	// Pretty indents JSON, for people.
	Pretty bool
}

// Conversion is another kind that an object can be sent as.
type Conversion string

// The conversions.
const (
	Table                     Conversion = "Table"
	PartialObjectMetadata     Conversion = "PartialObjectMetadata"
	PartialObjectMetadataList Conversion = "PartialObjectMetadataList"
)

// MediaType is the Content-Type of the answer.
func (f Form) MediaType() string {
	if f.YAML {
		return "application/yaml"
	}
	return "application/json"
}

// maxClauses bounds how much of an Accept header is read. No client needs as many.
const maxClauses = 32

// clause is one of the media types of an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
	weight    float64
}

// parseAccept reads a header, best first. Clauses that cannot be read count for nothing.
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

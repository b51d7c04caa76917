package apiserver

import (
	"cmp"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mediaJSON is the media type of every answer.
const mediaJSON = "application/json"

// The messages of kube-apiserver. Which one a client gets depends on whether the media type or its
// parameters are unknown.
const (
	unknownTypes  = "406: Not Acceptable\n\nAvailable representations: application/json"
	unknownForms  = "only the following media types are accepted: application/json"
	unknownStream = "only the following media types are accepted: application/json;stream=watch"
)

// formRules describe the forms that an endpoint supports.
type formRules struct {
	// Convert allows tables and metadata.
	Convert bool
	// Custom marks custom resources, whose requests do not pass the router that refuses unknown
	// media types.
	Custom bool
	// Stream marks a watch.
	Stream bool
}

// negotiate returns the form of the answer to a request: the whole object, its metadata or a table,
// always in JSON. Order and weights in the Accept header decide among the forms that the server
// supports, so a client that prefers protobuf and accepts JSON gets JSON. If there is none, refusal
// is the message of the 406, and form is the form of the error.
func negotiate(r *http.Request, rules formRules) (form answerForm, refusal string) {
	pretty := isPretty(r)
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return answerForm{Pretty: pretty}, ""
	}
	known := false
	for _, c := range parseAccept(header) {
		if c.mediaType != "*/*" && c.mediaType != mediaJSON {
			continue
		}
		form, known = answerForm{Pretty: pretty}, true
		if candidate, ok := c.form(rules); ok {
			candidate.Pretty = candidate.Pretty || pretty
			return candidate, ""
		}
	}
	switch {
	case !known && !rules.Stream && !rules.Custom:
		return answerForm{Pretty: pretty}, unknownTypes
	case rules.Stream:
		return form, unknownStream
	}
	return form, unknownForms
}

// form returns the form that the clause requests, if the endpoint supports it.
func (c clause) form(rules formRules) (answerForm, bool) {
	form := answerForm{As: conversion(c.params["as"]), Version: c.params["v"]}
	if stream := c.params["stream"]; stream != "" && (stream != "watch" || !rules.Stream) {
		return answerForm{}, false
	}
	form.Pretty = c.params["pretty"] == "1" || c.params["pretty"] == "true"
	switch form.As {
	case "":
		form.Version = ""
		return form, true
	case asTable, asMetadata, asMetadataList:
		known := form.Version == "v1" || form.Version == "v1beta1"
		return form, rules.Convert && known && c.params["g"] == "meta.k8s.io"
	}
	return answerForm{}, false
}

// isPretty reports whether the answer should be indented: if the query says so, or for curl, wget
// and browsers.
func isPretty(r *http.Request) bool {
	if query := r.URL.Query(); query.Has("pretty") {
		return flag(query, "pretty")
	}
	userAgent := r.UserAgent()
	return strings.HasPrefix(userAgent, "curl") || strings.HasPrefix(userAgent, "Wget") || strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// answerForm is the form of an answer.
type answerForm struct {
	// As is the kind to convert to; "" means the object itself.
	As conversion
	// Version is the version of meta.k8s.io to convert to, "v1" or "v1beta1".
	Version string
	// Pretty indents the document.
	Pretty bool
}

// conversion is a kind that objects can be converted to.
type conversion string

const (
	asTable        conversion = "Table"
	asMetadata     conversion = "PartialObjectMetadata"
	asMetadataList conversion = "PartialObjectMetadataList"
)

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

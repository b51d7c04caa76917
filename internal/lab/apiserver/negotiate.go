package apiserver

import (
	"mime"
	"net/http"
	"strings"
)

// mediaJSON is the media type of every answer.
const mediaJSON = "application/json"

// negotiate returns the form of the answer to a request: the whole object, its metadata or a table,
// always in JSON. convert allows tables and metadata. The order in the Accept header decides among
// the forms that the server supports, so a client that prefers protobuf and accepts JSON gets JSON.
// If there is none, ok is false and form is that of the error.
func negotiate(r *http.Request, convert bool) (form answerForm, ok bool) {
	form = answerForm{Pretty: isPretty(r)}
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return form, true
	}
	for _, c := range parseAccept(header) {
		if c.mediaType != "*/*" && c.mediaType != mediaJSON {
			continue
		}
		if asked, ok := c.form(convert); ok {
			asked.Pretty = asked.Pretty || form.Pretty
			return asked, true
		}
	}
	return form, false
}

// form returns the form that the clause requests, if the endpoint supports it.
func (c clause) form(convert bool) (answerForm, bool) {
	form := answerForm{As: conversion(c.params["as"])}
	form.Pretty = c.params["pretty"] == "1" || c.params["pretty"] == "true"
	switch form.As {
	case "":
		return form, true
	case asTable, asMetadata, asMetadataList:
		return form, convert && c.params["v"] == "v1" && c.params["g"] == "meta.k8s.io"
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
	return strings.HasPrefix(userAgent, "curl") || strings.HasPrefix(userAgent, "Wget") ||
		strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// answerForm is the form of an answer.
type answerForm struct {
	// As is the kind to convert to; "" means the object itself.
	As conversion
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
}

// parseAccept parses an Accept header. It skips invalid clauses and ignores weights.
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		clauses = append(clauses, clause{mediaType: mediaType, params: params})
	}
	return clauses
}

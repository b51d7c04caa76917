package apiserver

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// kubectl's Accept header for a table, with fallbacks for older servers.
const kubectlTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

func TestForms(t *testing.T) {
	tables := formRules{Convert: true}
	watches := formRules{Convert: true, Stream: true}
	for _, row := range []struct {
		accept  string
		rules   formRules
		want    answerForm
		refusal string
	}{
		{accept: ""},
		{accept: "*/*"},
		{accept: "application/*", refusal: unknownTypes},
		{accept: "application/*", rules: formRules{Custom: true}, refusal: unknownForms},
		{accept: "application/json"},
		{accept: "Application/JSON; charset=utf-8"},
		{accept: "application/yaml", refusal: unknownTypes},
		{accept: "application/yaml;q=0.5,application/json"},
		{accept: "application/vnd.kubernetes.protobuf,application/json"},
		{accept: "application/vnd.kubernetes.protobuf", refusal: unknownTypes},
		{accept: "text/html", refusal: unknownTypes},
		{accept: "a/b/c;;=", refusal: unknownTypes},
		{accept: "text/html,application/xhtml+xml,*/*;q=0.8"},
		{accept: "application/json;pretty=1", want: answerForm{Pretty: true}},
		{accept: kubectlTable, rules: tables, want: answerForm{As: asTable, Version: "v1"}},
		{accept: kubectlTable},
		{accept: "application/json;as=Table;v=v2;g=meta.k8s.io", rules: tables, refusal: unknownForms},
		{accept: "application/json;as=Table;v=v1;g=other", rules: tables, refusal: unknownForms},
		{accept: "application/json;as=Chair;v=v1;g=meta.k8s.io", rules: tables, refusal: unknownForms},
		{accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", rules: tables,
			want: answerForm{As: asMetadata, Version: "v1"}},
		{accept: "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io", rules: tables,
			want: answerForm{As: asMetadataList, Version: "v1beta1"}},
		{accept: "application/json;stream=watch", rules: watches},
		{accept: "application/json;stream=watch", refusal: unknownForms},
		{accept: "text/html", rules: watches, refusal: unknownStream},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if row.accept != "" {
			r.Header.Set("Accept", row.accept)
		}
		form, refusal := negotiate(r, row.rules)
		assert.Equal(t, row.want, form, row.accept)
		assert.Equal(t, row.refusal, refusal, row.accept)
	}
}

// Answers are indented on request, and for curl, wget and browsers.
func TestPretty(t *testing.T) {
	for _, row := range []struct {
		query, agent string
		want         bool
	}{
		{"", "kubectl/v1.36.3", false}, {"", "curl/8.0", true}, {"", "Wget/1", true}, {"", "Mozilla/5.0 (X11)", true},
		{"?pretty", "", true}, {"?pretty=true", "", true}, {"?pretty=false", "curl/8.0", false}, {"?pretty=0", "curl/8.0", false},
		{"?prettyplease=1", "", false}, {"?pretty=%zz", "kubectl", false},
	} {
		r := httptest.NewRequest("GET", "/api"+row.query, nil)
		r.Header.Set("User-Agent", row.agent)
		form, _ := negotiate(r, formRules{})
		assert.Equal(t, row.want, form.Pretty, "%+v", row)
	}
}

// Only the beginning of a long header is parsed.
func TestLongHeaders(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	for range 1000 {
		r.Header.Add("Accept", "text/html")
	}
	r.Header.Add("Accept", "application/json")
	_, refusal := negotiate(r, formRules{})
	assert.Equal(t, unknownTypes, refusal)
}

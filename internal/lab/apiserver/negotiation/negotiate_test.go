package negotiation_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/negotiation"
)

// kubectl's Accept header for a table, with fallbacks for older servers.
const kubectlTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

func TestForms(t *testing.T) {
	tables := negotiation.Rules{Convert: true}
	watches := negotiation.Rules{Convert: true, Stream: true}
	for _, row := range []struct {
		accept  string
		rules   negotiation.Rules
		want    negotiation.Form
		refusal string
	}{
		{accept: ""},
		{accept: "*/*"},
		{accept: "application/*", refusal: negotiation.UnknownTypes},
		{accept: "application/*", rules: negotiation.Rules{Custom: true}, refusal: negotiation.UnknownForms},
		{accept: "application/json"},
		{accept: "Application/JSON; charset=utf-8"},
		{accept: "application/yaml", refusal: negotiation.UnknownTypes},
		{accept: "application/yaml;q=0.5,application/json"},
		{accept: "application/vnd.kubernetes.protobuf,application/json"},
		{accept: "application/vnd.kubernetes.protobuf", refusal: negotiation.UnknownTypes},
		{accept: "text/html", refusal: negotiation.UnknownTypes},
		{accept: "a/b/c;;=", refusal: negotiation.UnknownTypes},
		{accept: "text/html,application/xhtml+xml,*/*;q=0.8"},
		{accept: "application/json;pretty=1", want: negotiation.Form{Pretty: true}},
		{accept: kubectlTable, rules: tables, want: negotiation.Form{As: negotiation.Table, Version: "v1"}},
		{accept: kubectlTable},
		{accept: "application/json;as=Table;v=v2;g=meta.k8s.io", rules: tables, refusal: negotiation.UnknownForms},
		{accept: "application/json;as=Table;v=v1;g=other", rules: tables, refusal: negotiation.UnknownForms},
		{accept: "application/json;as=Chair;v=v1;g=meta.k8s.io", rules: tables, refusal: negotiation.UnknownForms},
		{accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", rules: tables, want: negotiation.Form{As: negotiation.PartialObjectMetadata, Version: "v1"}},
		{accept: "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io", rules: tables, want: negotiation.Form{As: negotiation.PartialObjectMetadataList, Version: "v1beta1"}},
		{accept: "application/json;stream=watch", rules: watches},
		{accept: "application/json;stream=watch", refusal: negotiation.UnknownForms},
		{accept: "text/html", rules: watches, refusal: negotiation.UnknownStream},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if row.accept != "" {
			r.Header.Set("Accept", row.accept)
		}
		form, refusal := negotiation.Negotiate(r, row.rules)
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
		form, _ := negotiation.Negotiate(r, negotiation.Rules{})
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
	_, refusal := negotiation.Negotiate(r, negotiation.Rules{})
	assert.Equal(t, negotiation.UnknownTypes, refusal)
}

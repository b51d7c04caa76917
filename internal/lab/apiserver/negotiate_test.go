package apiserver

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The first of the forms with the highest weight counts, if the endpoint has it.
func TestForms(t *testing.T) {
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	tables := formRules{Convert: true}
	for _, row := range []struct {
		accept  string
		rules   formRules
		want    answerForm
		refusal string
	}{
		{accept: table + ",application/json", rules: tables, want: answerForm{As: asTable, Version: "v1"}},
		{accept: table + ",application/json"},
		{accept: table + ";q=0.5,application/json;q=0.9", rules: tables},
		{accept: "application/json;stream=watch", rules: formRules{Stream: true}},
		{accept: "application/json;stream=watch", refusal: unknownForms},
		{accept: "text/html", rules: formRules{Stream: true}, refusal: unknownStream},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", row.accept)
		form, refusal := negotiate(r, row.rules)
		assert.Equal(t, row.want, form, row.accept)
		assert.Equal(t, row.refusal, refusal, row.accept)
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

package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Kubernetes' field names are case-sensitive: a name that differs only by case is an unknown field.
func TestFieldNamesAreCaseSensitive(t *testing.T) {
	for _, c := range []struct {
		name, document, exact string
		into                  any
	}{
		{"the field itself", `{"Metadata":{"name":"b"},"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"}}`,
			&PartialObjectMetadata{}},
		{"alone", `{"kind":"Pod","metaData":{"name":"b"}}`, `{"kind":"Pod"}`, &PartialObjectMetadata{}},
		{"inside metadata", `{"metadata":{"finalizers":["hold"],"Finalizers":[],"ResourceVersion":"9","UID":"u"}}`,
			`{"metadata":{"finalizers":["hold"]}}`, &PartialObjectMetadata{}},
		{"inside a list", `{"metadata":{"ownerReferences":[{"name":"a","Name":"b","Controller":true},{"UID":"x"}]}}`,
			`{"metadata":{"ownerReferences":[{"name":"a"},{}]}}`, &PartialObjectMetadata{}},
		{"the Kelvin sign and the long s", "{\"\u212aind\":\"Pod\",\"metadata\":{\"label\u017f\":{\"a\":\"b\"}}}",
			`{"metadata":{}}`, &PartialObjectMetadata{}},
		{"escapes", `{"\u004bind":"Pod","\u006betadata":{},"\u006detadata":{"n\u0061me":"a","N\u0061me":"b"}}`,
			`{"metadata":{"name":"a"}}`, &PartialObjectMetadata{}},
		{"keys of a map are data", `{"metadata":{"labels":{"Name":"x","name":"y","Labels":"z"}}}`,
			`{"metadata":{"labels":{"Name":"x","name":"y","Labels":"z"}}}`, &PartialObjectMetadata{}},
		{"strings with brackets and quotes",
			`{"metadata":{"name":"a\"}{[,","Name":"\\"},"x":[1,-2.5e3,true,null,{"Metadata":{}}]}`, `{"metadata":` +
				`{"name":"a\"}{[,"}}`, &PartialObjectMetadata{}},
		{"a Namespace", `{"spec":{"finalizers":["kubernetes"],"Finalizers":[]},"Spec":{"finalizers":[]},"Status":` +
			`{"phase":"Active"}}`, `{"spec":{"finalizers":["kubernetes"]}}`, &plainNamespace{}},
		{"a condition", `{"status":{"conditions":[{"type":"A","Type":"B","Message":"m"}]}}`,
			`{"status":{"conditions":[{"type":"A"}]}}`, &plainNamespace{}},
		{"a Status", `{"code":409,"Code":404,"Reason":"NotFound","details":{"causes":[{"Reason":"x"}]}}`,
			`{"code":409,"details":{"causes":[{}]}}`, &Status{}},
		{"a discovery document", `{"items":[{"metadata":{"name":"g","Name":"h"},"versions":[{"version":"v1","Vers` +
			`ion":"v2"}],"Versions":[]}],"Items":[]}`, `{"items":[{"metadata":{"name":"g"},"versions":[{"version"` +
			`:"v1"}]}]}`, &APIGroupDiscoveryList{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := []byte(c.document)
			want := reflect.New(reflect.TypeOf(c.into).Elem()).Interface()
			require.NoError(t, json.Unmarshal([]byte(c.exact), want))
			require.NoError(t, Unmarshal(data, c.into))
			assert.Equal(t, want, c.into, "the document %s is read like %s", c.document, c.exact)
			assert.Equal(t, c.document, string(data), "the caller's bytes are not changed")
		})
	}
}

// What this project does not know it writes back, and a field of another case is not known.
func TestAFieldOfAnotherCaseIsWrittenBack(t *testing.T) {
	const document = `{"metadata":{"name":"a","Name":"b"},"spec":{"Finalizers":["x"],"finalizers":["kubernetes"]}` +
		`,"status":{}}`
	var n Namespace
	require.NoError(t, Unmarshal([]byte(document), &n))
	assert.Equal(t, "a", n.Name)
	assert.Equal(t, []string{"kubernetes"}, n.Spec.Finalizers)
	written, err := json.Marshal(n)
	require.NoError(t, err)
	assert.JSONEq(t, document, string(written))
}

// A server's texts end up in logs, Events and conditions, where a long one displaces the others.
func TestTheTextsOfAStatusAreCut(t *testing.T) {
	long := strings.Repeat("é", 1<<14)
	status := Status{
		Message: long, Reason: StatusReason(long), Status: long,
		Details: &StatusDetails{Name: long, Group: long, Kind: long, UID: long},
	}
	for range 40 {
		status.Details.Causes = append(status.Details.Causes, StatusCause{Type: CauseType(long), Message: long,
			Field: long})
	}
	status.Details.Causes[0].Type = CauseNamespaceTerminating
	body, err := json.Marshal(status)
	require.NoError(t, err)
	var decoded Status
	require.NoError(t, json.Unmarshal(body, &decoded))
	d := decoded.Details
	for _, text := range []string{
		decoded.Message, string(decoded.Reason), decoded.Status, d.Name, d.Group, d.Kind, d.UID,
		string(d.Causes[1].Type), d.Causes[1].Message, d.Causes[1].Field,
	} {
		assert.LessOrEqual(t, len(text), MaxText+len(CutMark), "a text of a Status is cut")
		assert.True(t, strings.HasPrefix(long, strings.TrimSuffix(text, CutMark)), "what is left is its beginning")
	}
	assert.Len(t, d.Causes, maxCauses)
	assert.True(t, IsNamespaceTerminating(NewStatusError(decoded)), "the first causes are kept")
	assert.Equal(t, strings.Repeat("x", MaxText), CutText(strings.Repeat("x", MaxText)),
		"a text of just the length is kept")
}

package apiservertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func masked(t *testing.T, document string, variables map[string]kept) string {
	t.Helper()
	documents, err := documentsOf(strings.NewReader(document), 0)
	require.NoError(t, err)
	a := &Answer{Documents: documents}
	mask(a, variables)
	text, err := json.Marshal(a.Documents[0])
	require.NoError(t, err)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text))
}

func TestWhatDiffersFromRunToRunIsMasked(t *testing.T) {
	now := time.Now().UTC().Format(time.RFC3339)
	uid := "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
	variables := map[string]kept{
		"uid": {text: uid}, "rv": {text: "41"}, "listed": {text: "41", ofList: true},
		"name": {text: "web-generated"}, "longer": {text: "web-generated-x"},
	}
	for document, want := range map[string]string{
		`{"uid":"` + uid + `"}`: `{"uid":"${uid}"}`,
		`{"uid":"another"}`:     `{"uid":"<uid>"}`,
		`{"uid":""}`:            `{"uid":""}`,
		`{"metadata":{"name":"a","resourceVersion":"41"}}`:   `{"metadata":{"name":"a","resourceVersion":"${rv}"}}`,
		`{"metadata":{"name":"a","resourceVersion":"42"}}`:   `{"metadata":{"name":"a","resourceVersion":"<version>"}}`,
		`{"metadata":{"resourceVersion":"41"}}`:              `{"metadata":{"resourceVersion":"${listed}"}}`,
		`{"metadata":{"resourceVersion":""}}`:                `{"metadata":{"resourceVersion":""}}`,
		`{"metadata":{"continue":"abc"}}`:                    `{"metadata":{"continue":"<token>"}}`,
		`{"at":"` + now + `"}`:                               `{"at":"<time>"}`,
		`{"at":"2001-01-01T00:00:00Z"}`:                      `{"at":"2001-01-01T00:00:00Z"}`,
		`{"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"]}`: `{"clusterIP":"<address>","clusterIPs":["<address>"]}`,
		`{"clusterIP":"None"}`:                               `{"clusterIP":"None"}`,
		`{"serverAddress":"10.0.0.7:6443"}`:                  `{"serverAddress":"<address>"}`,
		`{"managedFields":[],"a":41,"b":true}`:               `{"a":41,"b":true}`,
		`{"gitVersion":"v9","major":"1","minor":"36","x":1}`: `{"gitVersion":"<text>","major":"1","minor":"36","x":1}`,
		`{"m":"web-generated-x and web-generated, not 41"}`:  `{"m":"${longer} and ${name}, not 41"}`,
		`{"m":"UID ` + uid +
			` and 00000000-0000-0000-0000-000000000000"}`: `{"m":"UID ${uid} and <uid>"}`,
		`{"m":"since ` + now +
			`, not 2001-01-01T00:00:00Z"}`: `{"m":"since <time>, not 2001-01-01T00:00:00Z"}`,
		`{"m":"does not match the ResourceVersion in record (7)."}`:                                                             `{"m":"does not match the ResourceVersion in record (<version>)."}`,
		`{"m":"Too large resource version: 9, current: 7"}`:                                                                     `{"m":"Too large resource version: 9, current: <version>"}`,
		`{"m":"too old resource version: 1 (7)"}`:                                                                               `{"m":"too old resource version: 1 (<version>)"}`,
		`{"m":"Invalid value: \"{\\\"apiVersion\\\":\\\"v1\\\",\\\"x\\\":5}\": number"}`:                                        `{"m":"Invalid value: \"<object>\": number"}`,
		`{"kind":"Table","columnDefinitions":[{"name":"Age","description":"long"}],"rows":[{"cells":["a",3,"4m5s","<none>"]}]}`: `{"columnDefinitions":[{"name":"Age"}],"kind":"Table","rows":[{"cells":["a",3,"<age>","<none>"]}]}`,
	} {
		assert.Equal(t, want, masked(t, document, variables), document)
	}
}

func TestTextsAndHeadersAreMasked(t *testing.T) {
	a := &Answer{
		Text:    fmt.Sprintf("at %s from 127.0.0.1:4711", time.Now().UTC().Format(time.RFC3339)),
		Headers: []Header{{"Warning", "web-generated is old"}},
	}
	mask(a, map[string]kept{"name": {text: "web-generated"}})
	assert.Equal(t, "at <time> from <address>", a.Text)
	assert.Equal(t, "${name} is old", a.Headers[0].Value)
}

func TestThereAreManyCases(t *testing.T) {
	scripts, err := Scripts()
	require.NoError(t, err)
	cases := 0
	for _, script := range scripts {
		cases += len(script.Cases)
	}
	assert.Greater(t, cases, 600)
}

package apiserver_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

const mergePatch = "application/merge-patch+json"

// Invalid bodies. The messages are those of kube-apiserver.
func TestBadBodies(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		for _, row := range []struct {
			code                  int
			contentType, body, is string
		}{
			{400, "application/json", `{"a":`, "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({\"a\":)"},
			{400, "application/json", " ", "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (20)"},
			{400, "application/json", strings.Repeat("[", 20000), "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character '[' exceeded max depth (5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b ...)"},
			{400, "application/json", `{"kind":"Pod","apiVersion":"v1"}`, `Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion`},
			{400, "application/json", `{"kind":"ConfigMap","apiVersion":"v2"}`, `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"`},
			{400, "application/json", `{"data":{"a":1}}`, `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string`},
			{422, "application/json", `null`, `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`},
			{415, "text/plain", `{}`, "the body of the request was in an unknown format - accepted media types " +
				"include: application/json, application/vnd.kubernetes.protobuf"},
			{415, ";;;", `{}`, "the body of the request was in an unknown format - accepted media types " +
				"include: application/json, application/vnd.kubernetes.protobuf"},
			{400, "application/vnd.kubernetes.protobuf", "xx", "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (7878)"},
			{413, "application/json", strings.Repeat(" ", 3<<20+1), "Request entity too large: limit is 3145728"},
		} {
			got := p.do("POST", configMaps, row.body, "Content-Type", row.contentType)
			assert.Equal(t, row.code, got.code, row.body)
			assert.Equal(t, row.is, got.message(t))
		}
		p.must(400, "POST", configMaps, "", "Content-Type", "application/json")
	})
}

// kubectl create sends protobuf.
func TestProtobuf(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		object := func(kind, version string, raw []byte) string {
			head := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), version)
			head = protowire.AppendString(protowire.AppendTag(head, 2, protowire.BytesType), kind)
			body := protowire.AppendBytes(protowire.AppendTag([]byte("k8s\x00"), 1, protowire.BytesType), head)
			return string(protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), raw))
		}
		name := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "a")
		raw := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		send := func(code int, body string) answer {
			return p.must(code, "POST", configMaps, body, "Content-Type", "application/vnd.kubernetes.protobuf", "Accept", "application/vnd.kubernetes.protobuf,application/json")
		}
		assert.Contains(t, send(201, object("ConfigMap", "v1", raw)).body, `"name":"a"`)
		assert.Contains(t, send(400, object("Unknown", "v1", raw)).message(t), `no kind "Unknown" is registered`)
		assert.Contains(t, send(400, object("Pod", "v1", nil)).message(t), "unknown conversion")
		send(400, object("ConfigMap", "v1", []byte{0xff}))
		grace := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
		p.must(200, "DELETE", configMaps+"/a", object("DeleteOptions", "v1", grace), "Content-Type", "application/vnd.kubernetes.protobuf")
	})
}

func TestParameters(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		for path, is := range map[string]string{
			"?limit=x":             `strconv.ParseInt: parsing "x": invalid syntax`,
			"?timeoutSeconds=":     `strconv.ParseInt: parsing "": invalid syntax`,
			"?timeout=x":           `invalid timeout specified in the request URL - time: invalid duration "x"`,
			"?labelSelector=a=b=c": `found '=', expected: ',' or 'end of string'`,
			"?fieldSelector=x=y":   `"x" is not a known field selector: only "metadata.name", "metadata.namespace"`,
		} {
			assert.Equal(t, is, p.must(400, "GET", configMaps+path, "").message(t))
		}
		p.must(200, "GET", configMaps+"?timeout=1s&watch=false", "")
		for _, query := range []string{"dryRun=x", "fieldValidation=x", "fieldManager=%07", "fieldManager=" + strings.Repeat("m", 129)} {
			p.must(422, "POST", configMaps+"?"+query, "{}")
			p.must(422, "PUT", configMaps+"/a?"+query, "{}")
			p.must(422, "PATCH", configMaps+"/a?"+query, "{}", "Content-Type", mergePatch)
		}
		assert.Equal(t, `PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`,
			p.must(422, "PATCH", configMaps+"/a?force=true", "{}", "Content-Type", mergePatch).message(t))
		p.must(415, "PATCH", configMaps+"/a", "{}", "Content-Type", "application/apply-patch+yaml")
		p.must(415, "PATCH", configMaps+"/a", "{}")
		p.must(413, "PATCH", configMaps+"/a", strings.Repeat(" ", 3<<20+1), "Content-Type", mergePatch)
		for _, form := range []string{"POST ", "PUT /a", "PATCH /a", "DELETE /a", "DELETE ", "GET /a", "GET "} {
			method, path, _ := strings.Cut(form, " ")
			p.must(406, method, configMaps+path, "{}", "Accept", "text/html", "Content-Type", mergePatch)
		}
	})
}

func TestDeleteOptions(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		one := configMaps + "/a"
		p.must(422, "DELETE", one+"?dryRun=x", "")
		p.must(400, "DELETE", one, `{"kind":"Foo"}`)
		p.must(400, "DELETE", one, `{x`)
		p.must(400, "DELETE", one, `{"gracePeriodSeconds":"x"}`)
		p.must(415, "DELETE", one, `{}`, "Content-Type", "text/plain")
		p.must(409, "DELETE", one, `{"preconditions":{"uid":"other"}}`)
		p.must(200, "DELETE", one+"?dryRun=All&orphanDependents=0", "")
		p.must(400, "DELETE", configMaps+"?limit=x", "")
		p.must(422, "DELETE", configMaps+"?propagationPolicy=x", "")
		p.must(200, "DELETE", one, `{"kind":"DeleteOptions","apiVersion":"v1"}`)
		p.must(201, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"a"}}`)
		assert.Contains(t, p.must(200, "DELETE", "/api/v1/namespaces/default/serviceaccounts/a", "").body, `"kind":"ServiceAccount"`)
	})
}

func TestPatches(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		patch := func(code int, query, text string) answer {
			return p.must(code, "PATCH", configMaps+"/a"+query, text, "Content-Type", mergePatch)
		}
		assert.Empty(t, patch(200, "?fieldValidation=Ignore", `{"other":1}`).header.Get("Warning"))
		assert.Contains(t, patch(422, "", `{"apiVersion":"v2"}`).message(t), "no kind")
	})
}

// Warnings cannot make the header arbitrarily long.
func TestWarningsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		var fields strings.Builder
		for range 1000 {
			fields.WriteString(`,"` + strings.Repeat("f", 50) + `":1`)
		}
		made := p.must(201, "POST", configMaps, `{"metadata":{"name":"a"}`+fields.String()+`}`)
		assert.NotEmpty(t, made.header.Values("Warning"))
		assert.Less(t, len(strings.Join(made.header.Values("Warning"), "")), 10<<10)
	})
}

// A client that sends its body slowly, or not at all, is cut, whether or not the body is read.
func TestSlowBodiesAreCut(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		for path, want := range map[string]struct {
			code  int
			after time.Duration
		}{configMaps: {400, time.Minute}, "/api/v1/nothing": {404, 5 * time.Second}, configMaps + "?dryRun=x": {422, 5 * time.Second}} {
			conn := p.dial()
			_, err := io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
			require.NoError(t, err)
			begun := time.Now()
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil)
			require.NoError(t, err, "%s after %v", path, time.Since(begun))
			assert.Equal(t, want.code, response.StatusCode)
			assert.Equal(t, want.after, time.Since(begun))
			io.Copy(io.Discard, response.Body)
			_, err = reader.ReadByte()
			assert.ErrorIs(t, err, io.EOF, "connection closed")
		}
	})
}

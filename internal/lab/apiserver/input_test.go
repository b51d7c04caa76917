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
		assert.Contains(t, send(400, object("Unknown", "v1", raw)).message(t), "the document is of v1 Unknown")
		assert.Contains(t, send(400, object("Pod", "v1", nil)).message(t), "the document is of v1 Pod")
		send(400, object("ConfigMap", "v1", []byte{0xff}))
		grace := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
		p.must(200, "DELETE", configMaps+"/a", object("DeleteOptions", "v1", grace), "Content-Type", "application/vnd.kubernetes.protobuf")
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

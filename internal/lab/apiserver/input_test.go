package apiserver_test

import (
	"io"
	"net/http"
	"testing"

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
			return p.must(code, "POST", configMaps, body, "Content-Type", "application/vnd.kubernetes.protobuf",
				"Accept", "application/vnd.kubernetes.protobuf,application/json")
		}
		assert.Contains(t, send(201, object("ConfigMap", "v1", raw)).body, `"name":"a"`)
		unknown := send(400, object("Unknown", "v1", raw)).message(t)
		assert.Contains(t, unknown, `no kind "Unknown" is registered for version "v1"`)
		assert.Contains(t, send(400, object("Pod", "v1", nil)).message(t), "the document is of v1 Pod")
		send(400, object("ConfigMap", "v1", []byte{0xff}))
		grace := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
		// A typed client sends them in the group version of its objects.
		p.must(200, "DELETE", configMaps+"/a", object("DeleteOptions", "apps/v1", grace), "Content-Type",
			"application/vnd.kubernetes.protobuf")
	})
}

// A body of unknown length may be empty: then the options are those of the query.
func TestAnEmptyBodyHasNoOptions(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		request, err := http.NewRequestWithContext(t.Context(), "DELETE",
			"http://apiserver.test"+configMaps+"/a?dryRun=All", io.MultiReader())
		require.NoError(t, err)
		request.ContentLength, request.TransferEncoding = -1, []string{"chunked"}
		response, err := p.client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode)
		p.must(200, "GET", configMaps+"/a", "")
	})
}

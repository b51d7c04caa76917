package apiserver_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Incompressible lists (certificates, compressed data) are not compressed, which would take ten
// times as long. The beginning of the list decides.
func TestIncompressibleListsAreNotCompressed(t *testing.T) {
	l := startLoaded(t)
	noise := func(length int) string {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		var text bytes.Buffer
		for range length {
			text.WriteByte(alphabet[rand.IntN(len(alphabet))])
		}
		return text.String()
	}
	path := "/api/v1/namespaces/default/configmaps"
	for i := range 50 {
		_, err := l.write(http.MethodPost, path, configMap(fmt.Sprint("noise-", i), noise(4<<10)), http.StatusCreated)
		require.NoError(t, err)
	}
	_, err := l.write(http.MethodPost, path, configMap("large", noise(200<<10)), http.StatusCreated)
	require.NoError(t, err)

	for _, row := range []struct{ path, want string }{
		{path + "?fieldSelector=metadata.name!=large", ""},
		{path + "/large", ""},
		{"/openapi/v2", "gzip"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.server.URL()+row.path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+l.server.Token())
		request.Header.Set("Accept-Encoding", "gzip")
		response, err := l.client.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s", body)
		assert.Equal(t, row.want, response.Header.Get("Content-Encoding"), row.path)
	}
}

package restclient_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// bilingual answers with recordings of kube-apiserver in the client's preferred encoding.
func bilingual(w http.ResponseWriter, r *http.Request) {
	protobuf := strings.HasPrefix(r.Header.Get("Accept"), "application/vnd.kubernetes.protobuf")
	name, media := "metadata-pods", ""
	switch {
	case r.URL.Query().Get("watch") != "":
		name, media = "metadata-pods-watch", ";stream=watch"
	case strings.HasSuffix(r.URL.Path, "/held"):
		name = "metadata-object"
	}
	ending, contentType := ".json", "application/json"
	if protobuf {
		ending, contentType = ".pb", "application/vnd.kubernetes.protobuf"
	}
	body, err := os.ReadFile("testdata/" + name + ending)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", contentType+media)
	w.Write(body)
}

func TestMetadataInEitherEncoding(t *testing.T) {
	for name, codec := range codecs {
		bubble(t, bilingual, func(t *testing.T, server *restclienttest.Server) {
			client := server.Client(func(cfg *restclient.Config) { cfg.Codec = codec })
			pods := restclient.Metadata(client, api.PodsResource, "record")
			list, err := pods.List(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			require.Len(t, list.Items, 3)
			assert.Equal(t, "web-1", list.Items[0].Name)
			assert.Equal(t, "PartialObjectMetadata", list.Items[0].Kind)

			held, err := pods.Get(t.Context(), "held", api.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, []string{"orrery.example/hold"}, held.Finalizers)

			found, listed, err := pods.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
			require.NoError(t, err)
			assert.True(t, listed)
			assert.Len(t, found.Items, 3)

			w, err := pods.Watch(t.Context(), api.ListOptions{})
			require.NoError(t, err)
			for i := range 4 {
				event, err := w.Next()
				require.NoError(t, err)
				assert.Equal(t, i == 3, event.InitialEventsEnd)
			}
			_, err = w.Next()
			assert.Equal(t, io.EOF, err)
			for _, r := range server.Requests() {
				assert.Equal(t, name == "fast", strings.Contains(r.Header.Get("Accept"), "protobuf"), r.Path)
			}
		})
	}
}

// A server without protobuf answers the same request with JSON: no second request is needed.
func TestMetadataFallsBackToJSON(t *testing.T) {
	server := func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", strings.ReplaceAll(r.Header.Get("Accept"), "application/vnd.kubernetes.protobuf", "x"))
		bilingual(w, r)
	}
	bubble(t, server, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.Codec = fast.Codec{} })
		list, err := restclient.Metadata(client, api.PodsResource, "record").List(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, 3)
		assert.Len(t, server.Requests(), 1)
	})
}

func TestUnrequestedProtobuf(t *testing.T) {
	server := func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
		bilingual(w, r)
	}
	bubble(t, server, func(t *testing.T, server *restclienttest.Server) {
		namespaces := restclient.Typed[*api.Namespace](server.Client(), api.NamespacesResource, "")
		var nonsense *restclient.DecodeError
		_, err := restclient.Metadata(server.Client(), api.PodsResource, "").List(t.Context(), api.ListOptions{})
		assert.ErrorAs(t, err, &nonsense)
		_, err = namespaces.List(t.Context(), api.ListOptions{})
		assert.ErrorAs(t, err, &nonsense)
		_, err = namespaces.Get(t.Context(), "held", api.GetOptions{})
		assert.ErrorAs(t, err, &nonsense)
		_, err = namespaces.Watch(t.Context(), api.ListOptions{})
		assert.ErrorAs(t, err, &nonsense)
	})
}

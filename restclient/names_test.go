package restclient_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/fast"
	"orrery/restclient/restclienttest"
)

// Field names are case-sensitive in every answer. encoding/json alone folds their case.
func TestNamesOfAnotherCaseInAnswers(t *testing.T) {
	const object = `{"metadata":{"name":"a","finalizers":["hold"],"Finalizers":[]},"Metadata":{"name":"b"}}`
	const list = `{"kind":"PodList","metadata":{"resourceVersion":"5","ResourceVersion":"6","Continue":"c"},"Meta` +
		`data":{"continue":"d"},` +
		`"Kind":"Status","Items":[{}],"items":[` + object + `],"ITEMS":null}`
	for name, codec := range map[string]restclient.Codec{"plain": restclient.PlainCodec(), "fast": fast.Codec{}} {
		t.Run(name, func(t *testing.T) {
			one, err := codec.Object("application/json", []byte(object))
			require.NoError(t, err)
			assert.Equal(t, "a", one.Name, "Metadata is not metadata")
			assert.Equal(t, []string{"hold"}, one.Finalizers, "Finalizers is not finalizers")

			many, err := codec.List("application/json", strings.NewReader(list), 1<<20)
			require.NoError(t, err)
			assert.Equal(t, api.ListMeta{ResourceVersion: "5"}, many.ListMeta,
				"ResourceVersion and Continue are unknown fields")
			require.Len(t, many.Items, 1, "Items is not items")
			assert.Equal(t, []string{"hold"}, many.Items[0].Finalizers)
			assert.Equal(t, "PodList", many.Kind)

			_, err = codec.List("application/json", strings.NewReader(`{"Items":[],"Kind":"PodList"}`), 1<<20)
			assert.ErrorContains(t, err, "expected a list",
				"a document with Items only is no list: it proves nothing to be empty")
		})
	}
	refusals := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, `{"kind":"Status","code":409,"Code":404,"reason":"Conflict","Reason":"NotFound"}`)
	}
	bubble(t, refusals, func(t *testing.T, server *restclienttest.Server) {
		err := server.Client().Do(t.Context(), get("/"), nil)
		assert.True(t, api.IsConflict(err), "Reason is not reason: %v", err)
	})
	var into struct{ Hello string }
	bubble(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"Hello":"a","hello":"b"}`) },
		func(t *testing.T, server *restclienttest.Server) {
			require.NoError(t, server.Client().Do(t.Context(), get("/"), &into))
			assert.Equal(t, "a", into.Hello, "names are case-sensitive for any type")
		})
}

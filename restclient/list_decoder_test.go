package restclient_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// An aggregated API that answers a collection delete with 200 and an empty body has accepted it.
// This differs from a broken connection: the request need not be repeated.
func TestAnswerWithNothingInIt(t *testing.T) {
	for body, want := range map[string]string{
		"":    "the body is empty",
		" \n": "the body is empty",
		"{":   "broke off",
	} {
		synctest.Test(t, func(t *testing.T) {
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, body)
			}))
			pods := restclient.Metadata(server.Client(), api.PodsResource, "ns")
			_, listed, err := pods.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
			assert.ErrorContains(t, err, want)
			assert.False(t, listed)
			var unreadable *restclient.DecodeError
			if want != "broke off" {
				assert.ErrorAs(t, err, &unreadable)
			}
		})
	}
}

package chaos_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/restclienttest"
)

// TestOneEvent runs the way of one event through the gears. A test of package house builds it
// with a line of output before every statement, and compares the order with docs/learn.
//
// A server in memory and the namespace controller are at rest, in a bubble of virtual time. Then a
// user deletes a namespace that holds one object. The recording begins before the DELETE and ends
// with the controller's request that finalizes the namespace. The DELETE does not use restclient,
// so only the controller's requests are recorded.
func TestOneEvent(t *testing.T) {
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		finalized := false
		c := clustertest.Start(t, clustertest.Bare, func(server http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut && r.URL.Path == "/api/v1/namespaces/team-a/finalize" {
					println("end", set.String())
					finalized = true
				}
				server.ServeHTTP(w, r)
			})
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := c.RunNamespaceController(ctx, set)
		defer func() { stop(); <-ended }()
		c.Must("POST", "/api/v1/namespaces", `{"metadata":{"name":"team-a"}}`)
		c.Must("POST", "/api/v1/namespaces/team-a/configmaps", `{"metadata":{"name":"settings"}}`)
		time.Sleep(10 * time.Second)
		synctest.Wait()

		println("begin", set.String())
		request := httptest.NewRequest(http.MethodDelete, "/api/v1/namespaces/team-a", nil)
		require.NoError(t, restclienttest.Bearer(c.Server.Token()).Apply(request))
		answer := httptest.NewRecorder()
		c.Server.Handler().ServeHTTP(answer, request)
		require.Less(t, answer.Code, 300, "%s", answer.Body)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.True(t, finalized)
	})
}

package restclient_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// calls are the requests of a Resource, by verb.
func calls(t *testing.T, client *restclient.Client) map[string]error {
	r := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	object := namespace("a", "1")
	errs := map[string]error{}
	_, errs["get"] = r.Get(t.Context(), "a", api.GetOptions{})
	_, errs["list"] = r.List(t.Context(), api.ListOptions{})
	_, errs["watch"] = r.Watch(t.Context(), api.ListOptions{})
	_, errs["create"] = r.Create(t.Context(), object, api.UpdateOptions{})
	_, errs["update"] = r.Update(t.Context(), object, api.UpdateOptions{})
	_, errs["finalize"] = r.UpdateSubresource(t.Context(), "a", "finalize", object, api.UpdateOptions{})
	_, errs["patch"] = r.Patch(t.Context(), "a", api.MergePatchType, []byte("{}"), api.UpdateOptions{})
	errs["delete"] = r.Delete(t.Context(), "a", api.DeleteOptions{})
	_, _, errs["deletecollection"] = r.DeleteCollection(t.Context(), api.DeleteOptions{}, api.ListOptions{})
	errs["raw"] = client.Do(t.Context(), get("/readyz"), nil)
	return errs
}

// A redirected DELETE would become a GET whose 200 counts as success, or a DELETE of something
// else; and any redirect would take the token along.
func TestNoRedirectIsFollowed(t *testing.T) {
	for location, host := range map[string]string{
		"/login":                       "apiserver.test",
		"https://apiserver.test:6444/": "apiserver.test:6444",
		"http://user:pw@elsewhere.test/api/v1/namespaces/kube-system/configmaps": "elsewhere.test",
		"//elsewhere.test/":         "elsewhere.test",
		"http://elsewhere.test/%zz": "",
		"":                          "",
	} {
		for _, code := range []int{300, 301, 302, 303, 307, 308} {
			for _, transport := range []restclient.WatchTransport{restclient.WatchHTTP, restclient.WatchWebSocket} {
				bubble(t, func(w http.ResponseWriter, r *http.Request) {
					if location != "" {
						w.Header().Set("Location", location)
					}
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(code)
				}, func(t *testing.T, server *restclienttest.Server) {
					client := server.Client(func(cfg *restclient.Config) {
						cfg.WatchTransport = transport
						cfg.Credentials = &tokens{list: []string{"s3cret"}}
					})
					errs := calls(t, client)
					for verb, err := range errs {
						var redirect *restclient.RedirectError
						require.ErrorAs(t, err, &redirect, "%s answered %d to %q: a redirect is an error of its own",
							verb, code, location)
						assert.Equal(t, host, redirect.Host, "%s: the error names the host of the Location %q", verb,
							location)
						assert.Equal(t, code, redirect.Code)
						assert.ErrorContains(t, err, host)
						assert.NotContains(t, err.Error(), "pw", "the password of a Location is not shown")
						assert.False(t, api.IsNotFound(err) || api.IsExpired(err),
							"a redirect says nothing about the object")
					}
					assert.Len(t, server.Requests(), len(errs), "a redirect is neither followed nor repeated")
				})
			}
		}
	}
}

// A 101 to a request that asked for no upgrade is no success.
func TestSwitchingProtocolsUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hijacked(w, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		}))
		client := server.Client(func(cfg *restclient.Config) { cfg.SilenceTimeout = time.Second })
		for verb, err := range calls(t, client) {
			assert.Error(t, err, "%s answered 101", verb)
		}
	})
}

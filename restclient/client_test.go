package restclient_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

func TestDoFillsWhatItIsGiven(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=x")
		io.WriteString(w, `{"gitVersion":"v1.36.3"}`)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client()

		var info api.VersionInfo
		require.NoError(t, client.Do(t.Context(), get("/version"), &info))
		assert.Equal(t, "v1.36.3", info.GitVersion)

		var raw []byte
		require.NoError(t, client.Do(t.Context(), get("version"), &raw))
		assert.Equal(t, `{"gitVersion":"v1.36.3"}`, string(raw))

		var answer restclient.Response
		require.NoError(t, client.Do(t.Context(), get("/version"), &answer))
		assert.Equal(t, 200, answer.StatusCode)
		assert.Equal(t, "application/json; charset=x", answer.Header.Get("Content-Type"))
		assert.Equal(t, "24", answer.Header.Get("Content-Length"))
		assert.Equal(t, raw, answer.Body)

		require.NoError(t, client.Do(t.Context(), get("/version"), nil))

		for _, r := range server.Requests() {
			assert.Equal(t, "/version", r.Path)
			assert.Equal(t, "GET", r.Method)
			assert.Equal(t, "application/json", r.Header.Get("Accept"))
			assert.Equal(t, restclient.DefaultUserAgent(), r.Header.Get("User-Agent"))
			assert.Empty(t, r.Header.Get("Content-Type"))
		}
		assert.Equal(t, 1, server.Dialled(), "bodies are read to the end, so one connection serves all")
	})
}

func TestDoSendsWhatTheRequestSays(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d", r.Header.Get("Content-Type"), body, r.ContentLength)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Host += "/some/prefix/"
			cfg.UserAgent = "tester/1"
			cfg.Timeout = 3 * time.Second
		})
		query := url.Values{"b": {"2"}, "a": {"1", "x y"}}
		req := restclient.Request{
			Verb: "put", Path: "/apis/x/a%20b", Query: query,
			Body: []byte("hello"), ContentType: "text/plain", Accept: "text/*",
		}
		var got []byte
		require.NoError(t, client.Do(t.Context(), req, &got))
		assert.Equal(t, "text/plain hello 5", string(got))

		req.Body, req.ContentType = []byte{}, ""
		require.NoError(t, client.Do(t.Context(), req, &got))
		assert.Equal(t, "application/json  0", string(got))

		r := server.Requests()[0]
		assert.Equal(t, "PUT", r.Method)
		assert.Equal(t, "/some/prefix/apis/x/a%20b", r.Path)
		assert.Equal(t, url.Values{"b": {"2"}, "a": {"1", "x y"}}, r.Query)
		assert.Equal(t, "text/*", r.Header.Get("Accept"))
		assert.Equal(t, "tester/1", r.Header.Get("User-Agent"))
		assert.NotContains(t, query, "timeout", "the caller's query is left alone")
	})
}

func TestStatusErrors(t *testing.T) {
	details := refusal(409, api.ReasonConflict, "the object has been modified")
	details.Details = &api.StatusDetails{Kind: "pods", Name: "web", RetryAfterSeconds: 0}
	noCode := refusal(0, api.ReasonForbidden, "no")
	serverTimeout := refusal(504, api.ReasonTimeout, "try again")
	serverTimeout.Details = &api.StatusDetails{RetryAfterSeconds: 3}
	pods := api.PodsResource

	for _, c := range []struct {
		name    string
		code    int
		body    any // string: text
		check   func(error) bool
		message string
		cause   string
	}{
		{"status body", 409, details, api.IsConflict, "the object has been modified", ""},
		{"status without code", 403, noCode, api.IsForbidden, "no", ""},
		{"status with delay", 504, serverTimeout, api.IsTimeout, "try again", ""},
		{"404 text", 404, "404 page not found\n", api.IsNotFound,
			"the server could not find the requested resource (get pods web)", "404 page not found"},
		{"400", 400, "", api.IsBadRequest, "the server rejected our request for an unknown reason (get pods web)",
			"unknown"},
		{"401", 401, "Unauthorized", api.IsUnauthorized,
			"the server has asked for the client to provide credentials (get pods web)", "Unauthorized"},
		{"403", 403, "no entry", api.IsForbidden, "no entry (get pods web)", "no entry"},
		{"405", 405, "", api.IsMethodNotAllowed,
			"the server does not allow this method on the requested resource (get pods web)", "unknown"},
		{"406", 406, "only xml", hasReason(api.ReasonNotAcceptable), "only xml (get pods web)", "only xml"},
		{"406 empty", 406, "", hasReason(api.ReasonNotAcceptable),
			"the server was unable to respond with a content type that the client supports (get pods web)", "unknown"},
		{"409 text", 409, "", api.IsConflict, "the server reported a conflict (get pods web)", "unknown"},
		{"410 text", 410, "", api.IsExpired,
			"the server responded with the status code 410 but did not return more information (get pods web)",
			"unknown"},
		{"415", 415, "no yaml", hasReason(api.ReasonUnsupportedMediaType), "no yaml (get pods web)", "no yaml"},
		{"422", 422, "", api.IsInvalid, "the server rejected our request due to an error in our request (get pods web)",
			"unknown"},
		{"429", 429, "", api.IsTooManyRequests,
			"the server has received too many requests and has asked us to try again later (get pods web)", "unknown"},
		{"500 text", 500, "it \"broke\"", api.IsInternalError,
			`an error on the server ("it \"broke\"") has prevented the request from succeeding (get pods web)`,
			`it "broke"`},
		{"502 html", 502, "<html>", api.IsInternalError,
			`an error on the server ("<html>") has prevented the request from succeeding (get pods web)`, "<html>"},
		{"503", 503, "service unavailable\n", api.IsServiceUnavailable,
			"the server is currently unable to handle the request (get pods web)", "service unavailable"},
		{"504", 504, "", api.IsTimeout,
			"the server was unable to return a response in the time allotted, but may still be processing the " +
				"request (get pods web)", "unknown"},
		{"418", 418, "teapot", func(err error) bool { return api.CodeOf(err) == 418 },
			"the server responded with the status code 418 but did not return more information (get pods web)",
			"teapot"},
		{"JSON that is no status", 404, map[string]string{"kind": "Pod"}, api.IsNotFound,
			"the server could not find the requested resource (get pods web)", `{"kind":"Pod"}`},
		{"text that quotes a token", 400, "bad header Bearer abc.def", api.IsBadRequest,
			"the server rejected our request for an unknown reason (get pods web)", "bad header Bearer [redacted]"},
		{"long text", 400, strings.Repeat("x", 5000), api.IsBadRequest,
			"the server rejected our request for an unknown reason (get pods web)", strings.Repeat("x", 2048) + "..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			handler := func(w http.ResponseWriter, r *http.Request) {
				if text, ok := c.body.(string); ok {
					w.WriteHeader(c.code)
					io.WriteString(w, text)
					return
				}
				answer(w, c.code, c.body)
			}
			bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
				client := server.Client(retries(-1))
				_, err := restclient.Typed[*api.Pod](client, pods, "shop").Get(t.Context(), "web", api.GetOptions{})
				require.Error(t, err)
				assert.True(t, c.check(err), "%#v", err)
				assert.EqualError(t, err, c.message)
				assert.Equal(t, c.code, api.CodeOf(err))
				var refused *api.StatusError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, "GET", refused.Verb)
				assert.Equal(t, "http://apiserver.test/api/v1/namespaces/shop/pods/web", refused.URL)
				if c.cause != "" {
					assert.Equal(t, []api.StatusCause{{Type: api.CauseUnexpectedServerResponse, Message: c.cause}},
						refused.Status.Details.Causes)
				}
				if c.name == "status with delay" {
					assert.Equal(t, 3*time.Second, api.RetryAfterOf(err))
				}
			})
		})
	}
}

func TestSnapshot(t *testing.T) {
	bubble(t, script(code(503), ok), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst = 1, 1 })
		require.NoError(t, client.Do(t.Context(), get("/"), nil))
		s := client.Snapshot()
		assert.InDelta(t, 0, s.Tokens, 0.2)
		s.Tokens = 0
		assert.Equal(t, restclient.Snapshot{
			Host: "http://apiserver.test", QPS: 1, Burst: 1,
		}, s)
		assert.Equal(t, restclient.Snapshot{Host: "http://apiserver.test"}, server.Client().Snapshot())
	})
}

func TestNewRefusesWrongConfigurations(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(junk, []byte("no certificate"), 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	const noURL = "Host is not an http:// or https:// URL"
	const noCertificate = "TLS has certificate authority data that contains no PEM certificate"
	for _, c := range []struct {
		cfg   restclient.Config
		field string
		want  string
		cause error
	}{
		{restclient.Config{}, "Host", noURL, nil},
		{restclient.Config{Host: "ftp://x"}, "Host", noURL, nil},
		{restclient.Config{Host: "server"}, "Host", noURL, nil},
		{restclient.Config{Host: "https://"}, "Host", noURL, nil},
		{restclient.Config{Host: "https://a b"}, "Host", noURL, nil},
		{restclient.Config{Host: "https://joe:pa55@x"}, "Host", "Host has a user name, a query or a fragment", nil},
		{restclient.Config{Host: "https://x?y=z"}, "Host", "Host has a user name, a query or a fragment", nil},
		{restclient.Config{Host: "https://x", WatchTransport: "pigeon"}, "WatchTransport",
			`WatchTransport "pigeon" is neither "http" nor "websocket"`, nil},
		{restclient.Config{Host: "https://x", TLS: restclient.TLS{CAData: []byte("junk")}}, "TLS", noCertificate, nil},
		{restclient.Config{Host: "https://x", TLS: restclient.TLS{CAFile: junk}}, "TLS.CAFile",
			"TLS.CAFile " + junk + " contains no PEM certificate", nil},
		{restclient.Config{Host: "https://x", TLS: restclient.TLS{CAFile: empty}}, "TLS.CAFile",
			"TLS.CAFile " + empty + " contains no PEM certificate", nil},
		{restclient.Config{Host: "https://x", TLS: restclient.TLS{CAFile: filepath.Join(dir, "none")}}, "TLS.CAFile",
			"TLS.CAFile cannot be read", os.ErrNotExist},
		{restclient.Config{Host: "https://x", TLS: restclient.TLS{CAFile: junk, Insecure: true}}, "TLS",
			"TLS both skips verification", nil},
	} {
		_, err := restclient.New(c.cfg)
		var wrong *restclient.ConfigError
		require.ErrorAs(t, err, &wrong, c.want)
		assert.Equal(t, c.field, wrong.Field)
		assert.ErrorContains(t, err, "the client configuration is wrong: "+c.want)
		if c.cause != nil {
			assert.ErrorIs(t, err, c.cause, "the cause can be found")
		}
		assert.NotContains(t, err.Error(), "pa55")
	}
}

func TestInsecureWarns(t *testing.T) {
	var got []restclient.Warning
	client, err := restclient.New(restclient.Config{
		Host: "https://x", TLS: restclient.TLS{Insecure: true},
		Trace: &restclient.Trace{Warning: func(w restclient.Warning) { got = append(got, w) }},
	})
	require.NoError(t, err)
	client.Close()
	require.Len(t, got, 1)
	assert.Contains(t, got[0].Text, "certificate is not verified")
}

// Printing a configuration or a client in any way must not show what the credentials hold.
func TestNothingSecretIsPrinted(t *testing.T) {
	cfg := restclient.Config{Host: "https://x", Credentials: &tokens{list: []string{"s3cret"}}}
	client, err := restclient.New(cfg)
	require.NoError(t, err)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, value := range []any{cfg, &cfg, client, struct{ C *restclient.Client }{client},
			[]restclient.Config{cfg}} {
			assert.NotContains(t, fmt.Sprintf(format, value), "s3cret", "%s of %T", format, value)
		}
	}
	assert.Equal(t, "restclient.Client(https://x)", client.String())
	assert.Equal(t, "restclient.Config(credentials *restclient_test.tokens)", cfg.String())
}

func hasReason(reason api.StatusReason) func(error) bool {
	return func(err error) bool { return api.HasReason(err, reason) }
}

// Clients of one program share the connections to a server, and each has its own name and limit.
func TestAClientForAnotherPartOfTheProgram(t *testing.T) {
	bubble(t, code(200), func(t *testing.T, server *restclienttest.Server) {
		whole := server.Client(func(c *restclient.Config) { c.QPS, c.Burst = -1, 1 })
		part := whole.As("orrery/v1 part", 5, 7)
		require.NoError(t, whole.Do(t.Context(), get("/a"), nil))
		require.NoError(t, part.Do(t.Context(), get("/b"), nil))
		requests := server.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, restclient.DefaultUserAgent(), requests[0].Header.Get("User-Agent"))
		assert.Equal(t, "orrery/v1 part", requests[1].Header.Get("User-Agent"))
		assert.Equal(t, 1, server.Dialled())
		assert.Zero(t, whole.Snapshot().QPS)
		assert.Equal(t, float32(5), part.Snapshot().QPS)
		assert.Equal(t, 7, part.Snapshot().Burst)
		assert.Equal(t, float32(restclient.DefaultQPS), whole.As("", 0, 0).Snapshot().QPS)
	})
}

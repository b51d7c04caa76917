package restclient_test

import (
	"cmp"
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
		var info api.VersionInfo
		var raw []byte
		var answer restclient.Response
		client := server.Client()
		for _, into := range []any{&info, &raw, &answer, nil} {
			require.NoError(t, client.Do(t.Context(), get("version"), into))
		}
		assert.Equal(t, "v1.36.3", info.GitVersion)
		assert.Equal(t, `{"gitVersion":"v1.36.3"}`, string(raw))
		assert.Equal(t, 200, answer.StatusCode)
		assert.Equal(t, "application/json; charset=x", answer.Header.Get("Content-Type"))
		assert.Equal(t, raw, answer.Body)

		for _, r := range server.Requests() {
			assert.Equal(t, "/version", r.Path)
			assert.Equal(t, "GET", r.Method)
			assert.Equal(t, "application/json", r.Header.Get("Accept"))
			assert.Equal(t, restclient.DefaultUserAgent(), r.Header.Get("User-Agent"))
			assert.Empty(t, r.Header.Get("Content-Type"))
		}
		assert.Equal(t, 1, server.Dialled(), "bodies are read to the end, so one connection serves all")
	})
	for status, complete := range map[int]bool{http.StatusOK: false, http.StatusNoContent: true} {
		bubble(t, code(status), func(t *testing.T, server *restclienttest.Server) {
			err := server.Client().Do(t.Context(), get("version"), new(api.VersionInfo))
			assert.Equal(t, complete, err == nil, "an empty answer with the status %d: %v", status, err)
		})
	}
}

func TestDoSendsWhatTheRequestSays(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d", r.Header.Get("Content-Type"), body, r.ContentLength)
	}
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) {
			cfg.Host += "/some/prefix/"
			cfg.UserAgent, cfg.Timeout = "tester/1", 3*time.Second
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
	})
}

// getWeb is the refusal of a request for the pod "web".
func getWeb(t *testing.T, handler http.HandlerFunc) (refused *api.StatusError) {
	bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
		pods := restclient.Typed[*api.Pod](server.Client(retries(-1)), api.PodsResource, "shop")
		require.ErrorAs(t, errorOf(pods.Get(t.Context(), "web", api.GetOptions{})), &refused)
		assert.Equal(t, "GET", refused.Verb)
		assert.Equal(t, "http://apiserver.test/api/v1/namespaces/shop/pods/web", refused.URL)
	})
	return refused
}

func TestStatusesOfTheServer(t *testing.T) {
	conflict := refusal(409, api.ReasonConflict, "the object has been modified")
	conflict.Details = &api.StatusDetails{Kind: "pods", Name: "web"}
	delay := refusal(504, api.ReasonTimeout, "try again")
	delay.Details = &api.StatusDetails{RetryAfterSeconds: 3}
	for _, status := range []api.Status{conflict, delay, refusal(0, api.ReasonForbidden, "no")} {
		sent := max(status.Code, 403) // a status without a code has that of the answer
		refused := getWeb(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, sent, status) })
		want := api.NewStatusError(status)
		want.Status.Code = sent
		assert.Equal(t, want.Status, refused.Status)
		assert.Equal(t, want.RetryAfter, refused.RetryAfter)
	}
}

// The messages are those of Kubernetes: conditions contain them.
func TestAnswersWithoutAStatus(t *testing.T) {
	const unspecific = "the server responded with the status code %d but did not return more information"
	const internal = "an error on the server (%q) has prevented the request from succeeding"
	for _, c := range []struct {
		code          int
		text, message string
	}{
		{404, "404 page not found\n", "the server could not find the requested resource"},
		{400, "", "the server rejected our request for an unknown reason"},
		{401, "Unauthorized", "the server has asked for the client to provide credentials"},
		{403, "no entry", "no entry"},
		{405, "", "the server does not allow this method on the requested resource"},
		{406, "only xml", "only xml"},
		{406, "", "the server was unable to respond with a content type that the client supports"},
		{409, "", "the server reported a conflict"},
		{410, "", fmt.Sprintf(unspecific, 410)},
		{415, "no yaml", "no yaml"},
		{418, "teapot", fmt.Sprintf(unspecific, 418)},
		{422, "", "the server rejected our request due to an error in our request"},
		{429, "", "the server has received too many requests and has asked us to try again later"},
		{500, `it "broke"`, fmt.Sprintf(internal, `it "broke"`)},
		{502, "<html>", fmt.Sprintf(internal, "<html>")},
		{503, "service unavailable\n", "the server is currently unable to handle the request"},
		{504, "", "the server was unable to return a response in the time allotted, but may still be processing the " +
			"request"},
		{404, `{"kind":"Pod"}`, "the server could not find the requested resource"},
	} {
		refused := getWeb(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			io.WriteString(w, c.text)
		})
		assert.EqualError(t, refused, c.message+" (get pods web)")
		assert.Equal(t, c.code, api.CodeOf(refused))
		assert.Equal(t, api.ReasonForCode(c.code, false), refused.Status.Reason)
		cause := cmp.Or(strings.TrimSpace(c.text), "unknown")
		assert.Equal(t, []api.StatusCause{{Type: api.CauseUnexpectedServerResponse, Message: cause}},
			refused.Status.Details.Causes)
	}
	for text, cause := range map[string]string{"bad header Bearer abc.def": "bad header Bearer [redacted]",
		strings.Repeat("x", 5000): strings.Repeat("x", 2048) + "..."} {
		refused := getWeb(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, 400) })
		assert.Equal(t, cause, refused.Status.Details.Causes[0].Message)
	}
}

func TestSnapshot(t *testing.T) {
	bubble(t, script(code(503), ok), func(t *testing.T, server *restclienttest.Server) {
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst = 1, 1 })
		require.NoError(t, client.Do(t.Context(), get("/"), nil))
		s := client.Snapshot()
		assert.InDelta(t, 0, s.Tokens, 0.2)
		assert.InDelta(t, 0, client.WithListLimit(9).Snapshot().Tokens, 0.2, "both share the limit of requests")
		s.Tokens = 0
		assert.Equal(t, restclient.Snapshot{
			Host: "http://apiserver.test", QPS: 1, Burst: 1,
		}, s)
		assert.Equal(t, restclient.Snapshot{Host: "http://apiserver.test"}, server.Client().Snapshot())
	})
}

func TestNewRefusesWrongConfigurations(t *testing.T) {
	dir := t.TempDir()
	junk, empty, none := filepath.Join(dir, "junk"), filepath.Join(dir, "empty"), filepath.Join(dir, "none")
	require.NoError(t, os.WriteFile(junk, []byte("no certificate"), 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	wrong := map[string]restclient.Config{
		`WatchTransport "pigeon" is neither "http" nor "websocket"`: {WatchTransport: "pigeon"},
		"TLS has certificate authority data that contains no PEM certificate": {
			TLS: restclient.TLS{CAData: []byte("junk")}},
		"TLS.CAFile " + junk + " contains no PEM certificate":  {TLS: restclient.TLS{CAFile: junk}},
		"TLS.CAFile " + empty + " contains no PEM certificate": {TLS: restclient.TLS{CAFile: empty}},
		"TLS both skips verification":                          {TLS: restclient.TLS{CAFile: junk, Insecure: true}},
		"TLS.CAFile cannot be read":                            {TLS: restclient.TLS{CAFile: none}},
	}
	for want, cfg := range wrong {
		cfg.Host = "https://x"
		_, err := restclient.New(cfg)
		require.ErrorAs(t, err, new(*restclient.ConfigError), want)
		assert.ErrorContains(t, err, "the client configuration is wrong: "+want)
		if want == "TLS.CAFile cannot be read" {
			assert.ErrorIs(t, err, os.ErrNotExist, "the cause can be found")
		}
	}
	for host, want := range map[string]string{
		"": "is not an http:// or https:// URL", "ftp://x": "is not an http", "server": "is not an http",
		"https://": "is not an http", "https://a b": "is not an http", "https://joe:pa55@x": "has a user name, a query",
		"https://x?y=z": "has a user name, a query or a fragment",
	} {
		_, err := restclient.New(restclient.Config{Host: host})
		assert.ErrorContains(t, err, "the client configuration is wrong: Host "+want)
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
	assert.Equal(t, "restclient.Client(https://x)", fmt.Sprint(client))
	assert.Equal(t, "restclient.Config(credentials *restclient_test.tokens)", fmt.Sprint(cfg))
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

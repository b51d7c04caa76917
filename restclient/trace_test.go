package restclient_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// recorder writes down every hook as a line.
type recorder struct{ lines []string }

func (r *recorder) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) trace() *restclient.Trace {
	about := func(i restclient.RequestInfo) string {
		return fmt.Sprintf("%s %s %s %s/%s/%s %s #%d", i.Method, i.Verb, i.Resource.Resource, i.Namespace, i.Name,
			i.Subresource, i.Path, i.Attempt)
	}
	ended := func(how string) func(i restclient.RequestInfo, res restclient.RequestResult) {
		return func(i restclient.RequestInfo, res restclient.RequestResult) {
			r.add("%s %s: %d after %v, limited %v, waited %v, version %q: %v", how, about(i), res.Code, res.Duration,
				res.Limited, res.Waited.Round(time.Millisecond), res.ResourceVersion, res.Err)
		}
	}
	return &restclient.Trace{
		RequestStart: func(i restclient.RequestInfo) { r.add("start %s", about(i)) },
		RequestDone:  ended("done"),
		Finished:     ended("finished"),
		Retry: func(i restclient.RequestInfo, wait time.Duration, err error) {
			r.add("retry %s in %v: %v", about(i), wait, err)
		},
		WatchOpened: func(i restclient.RequestInfo) { r.add("opened %s", about(i)) },
		WatchFrame: func(i restclient.RequestInfo, kind api.WatchEventType, bytes int) {
			r.add("frame %s %s %d bytes", i.Path, kind, bytes)
		},
		WatchClosed: func(i restclient.RequestInfo, frames int64, open time.Duration, err error) {
			r.add("closed %s after %d frames, %v: %v", i.Path, frames, open, err)
		},
	}
}

// The whole cost of a request: attempts, the pause between them, and the rate limit.
func TestTraceOfARequest(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(30 * time.Millisecond)
		answer(w, 200, namespace("shop", "1"))
	}
	bubble(t, script(code(503, "Retry-After", "2"), slow), func(t *testing.T, server *restclienttest.Server) {
		var r recorder
		client := server.Client(func(cfg *restclient.Config) { cfg.QPS, cfg.Burst, cfg.Trace = 0.125, 1, r.trace() })
		_, err := namespacesOf(client).UpdateStatus(t.Context(), namespace("shop", "1"), api.UpdateOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = client.Do(ctx, get("/version"), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		const about = "PUT update namespaces /shop/status /api/v1/namespaces/shop/status #"
		const busy = "the server is currently unable to handle the request (put namespaces shop)"
		assert.Equal(t, []string{
			"start " + about + "1",
			"done " + about + `1: 503 after 0s, limited true, waited 0s, version "": ` + busy,
			"retry " + about + "1 in 2s: " + busy,
			"start " + about + "2",
			"done " + about + `2: 200 after 30ms, limited true, waited 6s, version "1": <nil>`,
			"finished " + about + `2: 200 after 8.03s, limited true, waited 6s, version "1": <nil>`,
			// No attempt was made: there was no token.
			`finished GET   // /version #0: 0 after 0s, limited true, waited 7.97s, version "": ` + err.Error(),
		}, r.lines)
	})
}

func TestTraceOfAWatch(t *testing.T) {
	handler := watches(func(s *restclienttest.Stream) {
		time.Sleep(time.Minute)
		s.SendRaw([]byte(`{"type":"ADDED","object":{"metadata":{}}}` + "\n"))
		s.SendRaw([]byte(`{"type":"BOOKMARK","object":{}}` + "\n"))
	})
	for _, transport := range transports {
		bubble(t, handler, func(t *testing.T, server *restclienttest.Server) {
			var r recorder
			client := server.Client(over(transport), func(cfg *restclient.Config) { cfg.Trace = r.trace() })
			w := watchOf(t, client)
			var err error
			for err == nil {
				_, err = w.Next()
			}
			w.Stop()
			require.Equal(t, io.EOF, err)
			status := 200
			if transport == restclient.WatchWebSocket {
				status = 101
			}
			const about = "GET watch pods // /api/v1/pods #1"
			assert.Equal(t, []string{
				"start " + about,
				fmt.Sprintf(`done %s: %d after 0s, limited false, waited 0s, version "": <nil>`, about, status),
				"opened " + about,
				"frame /api/v1/pods ADDED 41 bytes",
				"frame /api/v1/pods BOOKMARK 31 bytes",
				"closed /api/v1/pods after 2 frames, 1m0s: EOF",
			}, r.lines)

			w = watchOf(t, client)
			_, err = w.Next()
			require.NoError(t, err)
			w.Stop()
			assert.Equal(t, "closed /api/v1/pods after 1 frames, 1m0s: the watch was stopped", r.lines[len(r.lines)-1])
		})
	}
}

const canary = "canary0123456789abcdef"

// echoes are answers in which a server, hostile or helpful, repeats what it was sent.
var echoes = map[string]func(w http.ResponseWriter, said string){
	"Status": func(w http.ResponseWriter, said string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(api.Status{
			TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: said, Code: 403,
			Reason: api.StatusReason(said), Message: "I do not like " + said,
			Details: &api.StatusDetails{Name: said, Group: said, Kind: said, UID: said,
				Causes: []api.StatusCause{{Type: api.CauseType(said), Message: said, Field: said}}},
		})
	},
	"Status of success": func(w http.ResponseWriter, said string) {
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"no %s"}`, said)
	},
	"Status that is cut": func(w http.ResponseWriter, said string) {
		w.WriteHeader(http.StatusForbidden)
		long := strings.Repeat("x", api.MaxText-len(said)+3) + said
		_ = json.NewEncoder(w).Encode(api.Status{TypeMeta: api.TypeMeta{Kind: "Status"}, Code: 403, Message: long})
	},
	"text that is cut": func(w http.ResponseWriter, said string) {
		http.Error(w, strings.Repeat("x", api.MaxText-len(said)+3)+said, http.StatusBadGateway)
	},
	"text":    func(w http.ResponseWriter, said string) { http.Error(w, said, http.StatusBadGateway) },
	"warning": func(w http.ResponseWriter, said string) { w.Header().Set("Warning", `299 - "what is `+said+`?"`) },
	"not JSON": func(w http.ResponseWriter, said string) {
		fmt.Fprintf(w, `{"kind":"PodList","items":[{"metadata":{"creationTimestamp":%q}}]}`, said)
	},
	"redirect": func(w http.ResponseWriter, said string) {
		w.Header().Set("Location", "http://apiserver.test/%zz"+said)
		w.WriteHeader(http.StatusFound)
	},
	"redirect again and again": func(w http.ResponseWriter, said string) {
		w.Header().Set("Location", "/x?token="+said)
		w.WriteHeader(http.StatusFound)
	},
	"not HTTP": func(w http.ResponseWriter, said string) { hijacked(w, said+"\r\n\r\n") },
	"bad header": func(w http.ResponseWriter, said string) {
		hijacked(w, "HTTP/1.1 200 OK\r\n"+said+"\r\n\r\n")
	},
	"watch": func(w http.ResponseWriter, said string) {
		fmt.Fprintf(w, `{"type":"ERROR","object":{"kind":"Status","message":%q,"code":410}}`, said)
	},
	"bad event": func(w http.ResponseWriter, said string) {
		fmt.Fprintf(w, `{"type":"ADDED","object":{"metadata":{"creationTimestamp":%q}}}`, said)
	},
}

// fixedHeader is an Authorization header that is also sent over a pipe.
type fixedHeader string

func (h fixedHeader) Apply(r *http.Request) error {
	r.Header.Set("Authorization", string(h))
	return nil
}
func (fixedHeader) Unauthorized(*http.Request)                   {}
func (fixedHeader) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

func hijacked(w http.ResponseWriter, answer string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, answer)
		conn.Close()
	}
}

// A server may repeat credentials; they never appear in the client's errors, traces or warnings.
func TestServersThatRepeatSecretsAreCensored(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("joe:" + canary))
	for _, header := range []string{"Bearer " + canary, "Basic " + basic, canary} {
		for name, echo := range echoes {
			for _, said := range []string{header, header[strings.Index(header, " ")+1:], canary} {
				for _, transport := range transports {
					var reported strings.Builder
					handler := func(w http.ResponseWriter, _ *http.Request) { echo(w, said) }
					server := restclienttest.NewServer(t, http.HandlerFunc(handler))
					client := server.Client(over(transport), as(fixedHeader(header)), retries(-1), report(&reported))
					askEverything(t, client, &reported)
					label := fmt.Sprintf("%s, %s, %s, %s", header, name, said, transport)
					require.NotEmpty(t, reported.String(), label)
					for _, secret := range []string{canary, canary[:len(canary)-3], basic} {
						assert.NotContains(t, reported.String(), secret, label)
					}
				}
			}
		}
	}
}

// report writes what the hooks of a client are told.
func report(to io.Writer) func(*restclient.Config) {
	trace := &restclient.Trace{
		RequestDone: func(i restclient.RequestInfo, r restclient.RequestResult) { fmt.Fprintf(to, "%+v %+v\n", i, r) },
		Warning:     func(w restclient.Warning) { fmt.Fprintf(to, "%+v\n", w) },
		WatchClosed: func(i restclient.RequestInfo, _ int64, _ time.Duration, err error) {
			fmt.Fprintf(to, "%+v %v\n", i, err)
		},
	}
	return func(cfg *restclient.Config) { cfg.Trace = trace }
}

// askEverything makes a request of each kind and records the results.
func askEverything(t *testing.T, client *restclient.Client, reported io.Writer) {
	tell := func(err error) {
		fmt.Fprintln(reported, err)
		if refused, ok := errors.AsType[*api.StatusError](err); ok {
			text, _ := json.Marshal(refused.Status)
			fmt.Fprintln(reported, string(text))
		}
		if broken, ok := errors.AsType[*restclient.TransportError](err); ok {
			fmt.Fprintln(reported, broken.Sentence(), broken.Err)
		}
	}
	pods := restclient.Typed[*api.Pod](client, api.PodsResource, "")
	tell(errorOf(pods.Get(t.Context(), "a", api.GetOptions{})))
	tell(errorOf(pods.List(t.Context(), api.ListOptions{})))
	tell(errorOf(podsOf(client).List(t.Context(), api.ListOptions{})))
	tell(client.Do(t.Context(), restclient.Request{Path: "/version"}, nil))
	watch, err := pods.Watch(t.Context(), api.ListOptions{})
	if err != nil {
		tell(err)
		return
	}
	defer watch.Stop()
	for err == nil {
		var event api.WatchEvent[*api.Pod]
		if event, err = watch.Next(); event.Status != nil {
			tell(api.NewStatusError(*event.Status))
		}
	}
	tell(err)
}

// A proxy that refuses may repeat its own password.
func TestProxiesThatRepeatTheirPasswordAreCensored(t *testing.T) {
	header := "Basic " + base64.StdEncoding.EncodeToString([]byte("joe:"+canary))
	for _, c := range []struct{ scheme, start string }{
		{"https", "HTTP/1.1 407 "}, {"https", ""}, {"http", "HTTP/1.1 502 no\r\nConnection: close\r\n\r\n"},
	} {
		proxy := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hijacked(w, c.start+r.Header.Get("Proxy-Authorization")+" or "+canary+"\r\n\r\n")
		}))
		client := proxy.Client(retries(-1), func(cfg *restclient.Config) {
			cfg.Host = c.scheme + "://elsewhere.test"
			cfg.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "apiserver.test",
				User: url.UserPassword("joe", canary)})
		})
		err := client.Do(t.Context(), restclient.Request{Path: "/version"}, nil)
		require.ErrorContains(t, err, "[redacted]", c.start)
		assert.NotContains(t, err.Error(), canary)
		assert.NotContains(t, err.Error(), strings.TrimPrefix(header, "Basic "))
	}
}

// An invalid URL is not shown if it may contain a password.
func TestUnusableHostsAreNotQuoted(t *testing.T) {
	for _, host := range []string{"https://joe:" + canary + "@server:bad", "https://joe:7" + canary + "/x@server",
		"https://joe:" + canary + "@server", "://" + canary, "https://server/?token=" + canary} {
		_, err := restclient.New(restclient.Config{Host: host})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), canary)
		assert.NotContains(t, fmt.Sprintf("%v %+v %s", restclient.Config{Host: host}, restclient.Config{Host: host},
			restclient.Config{Host: host}), canary)
	}
}

// Errors without secrets are returned unchanged, and censored ones can still be distinguished.
func TestCensoredErrorsKeepTheirKind(t *testing.T) {
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hijacked(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"+canary)
	}))
	client := server.Client(as(fixedHeader("Bearer "+canary)), retries(-1))
	err := client.Do(t.Context(), restclient.Request{Path: "/version"}, nil)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// A very short secret would match in every other line.
func TestSecretsOfARequest(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://h", nil)
	require.NoError(t, err)
	for secret, want := range map[string][]string{
		"a": nil, "canar": nil, "canary": {"canary"}, canary: {canary},
		`quo"ted\canary`: {`quo"ted\canary`, `quo\"ted\\canary`},
	} {
		request.Header.Set("Authorization", "Bearer "+secret)
		assert.Equal(t, want, restclient.SecretsOf(request), secret)
	}
}

package restclient_test

import (
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

const canary = "canary0123456789abcdef"

// echoes are answers in which a server, hostile or helpful, repeats what it was sent.
var echoes = map[string]func(w http.ResponseWriter, said string){
	"Status": func(w http.ResponseWriter, said string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(api.Status{
			TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: api.StatusFailure, Code: 403,
			Reason: api.StatusReason(said), Message: "I do not like " + said,
			Details: &api.StatusDetails{Name: said, Kind: said,
				Causes: []api.StatusCause{{Message: said, Field: said}}},
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
					server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						echo(w, said)
					}))
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
	proxy := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hijacked(w, "HTTP/1.1 407 what is "+r.Header.Get("Proxy-Authorization")+" or "+canary+"\r\n\r\n")
	}))
	client := proxy.Client(retries(-1), func(c *restclient.Config) {
		c.Host = "https://elsewhere.test"
		c.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "apiserver.test", User: url.UserPassword("joe", canary)})
	})
	err := client.Do(t.Context(), restclient.Request{Path: "/version"}, nil)
	require.ErrorContains(t, err, "407")
	assert.NotContains(t, err.Error(), canary)
	assert.NotContains(t, err.Error(), strings.TrimPrefix(header, "Basic "))
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

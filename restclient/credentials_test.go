package restclient_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// tokens are credentials that move on to the next token when the present one was refused, and stay
// at the last.
type tokens struct {
	mu           sync.Mutex
	list         []string
	unauthorized int
	err          error
}

func (c *tokens) Apply(req *http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	req.Header.Set("Authorization", "Bearer "+c.list[0])
	return nil
}

func (c *tokens) Unauthorized(req *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unauthorized++
	if len(c.list) > 1 && req.Header.Get("Authorization") == "Bearer "+c.list[0] {
		c.list = c.list[1:]
	}
}

func (c *tokens) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// only accepts requests with this token.
func only(token string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			answer(w, 401, refusal(401, api.ReasonUnauthorized, "Unauthorized"))
			return
		}
		next(w, r)
	}
}

func TestUnauthorizedIsRepeatedOnceWithFreshCredentials(t *testing.T) {
	for _, c := range []struct {
		name               string
		tokens             []string
		requests, reported int
		ok                 bool
	}{
		{"right from the start", []string{"new"}, 1, 0, true},
		{"rotated", []string{"old", "new"}, 2, 1, true},
		{"nothing fresher", []string{"old"}, 1, 1, false},
		{"fresh but wrong too", []string{"old", "older", "new"}, 2, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, only("new", ok), func(t *testing.T, server *restclienttest.Server) {
				credentials := &tokens{list: c.tokens}
				client := server.Client(as(credentials))
				err := client.Do(t.Context(), restclient.Request{Verb: "POST", Path: "/", Body: []byte("{}")}, nil)
				if c.ok {
					assert.NoError(t, err)
				} else {
					assert.True(t, api.IsUnauthorized(err), "%v", err)
				}
				assert.Len(t, server.Requests(), c.requests)
				assert.Equal(t, c.reported, credentials.unauthorized, "each refusal drops the credentials that were refused")
			})
		})
	}
}

type failAfter401 struct{ tokens }

func (c *failAfter401) Unauthorized(*http.Request) { c.err = errors.New("gone") }

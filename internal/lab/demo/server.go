package demo

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/credentials"
)

// NewServer returns a server and the credentials of its clients. They are separate users, so that a
// fault can affect one of them. The recorder, which may be nil, records the writes of all other
// users.
func NewServer(listen string, recorder *trace.Recorder) (*apiserver.Server, map[story.Client]restclient.Credentials, error) {
	tokens, made := map[string]apiserver.User{}, map[story.Client]restclient.Credentials{}
	for who, user := range stage.Users() {
		token := string(who) + "-" + rand.Text()
		tokens[token] = apiserver.User{Name: user, Groups: []string{authn.GroupMasters}}
		var err error
		if made[who], err = credentials.NewToken(token); err != nil {
			return nil, nil, err
		}
	}
	server, err := apiserver.New(apiserver.Config{Listen: listen, TLS: true, Demo: true, Tokens: tokens, Trace: writesOfOthers(recorder)})
	return server, made, err
}

// writesOfOthers records each successful write of a user that is not one of the demo's.
func writesOfOthers(recorder *trace.Recorder) *apiserver.Trace {
	if recorder == nil {
		return nil
	}
	writes := []string{"create", "update", "patch", "delete", "deletecollection"}
	users := slices.Collect(maps.Values(stage.Users()))
	return &apiserver.Trace{RequestDone: func(request apiserver.RequestInfo, result apiserver.RequestResult) {
		if result.Code < http.StatusBadRequest && slices.Contains(writes, request.Verb) && !slices.Contains(users, request.User) {
			recorder.ServerAnswer(request.Verb, request.User, result.Code, result.Duration)
		}
	}}
}

// Connection returns the client configuration for a listening server.
func Connection(server *apiserver.Server) restclient.Config {
	return restclient.Config{
		Host:  server.URL(),
		TLS:   restclient.TLS{CAData: server.CertificateAuthority()},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // the server is on this machine
	}
}

// StopServer stops the server and waits two seconds at most for requests in flight.
func StopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}

package demo

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"time"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/credentials"
)

// newServer returns a server and the credentials of its clients. The controller and the spectators
// are separate users, so that a fault can affect one of them; the script is the administrator.
func newServer(listen string) (*apiserver.Server, map[story.Client]restclient.Credentials, error) {
	controller, spectators := "controller-"+rand.Text(), "spectators-"+rand.Text()
	server, err := apiserver.New(apiserver.Config{
		Listen: listen, TLS: true, Demo: true,
		Tokens: map[string]apiserver.User{
			controller: {Name: stage.ControllerUser, Groups: []string{authn.GroupMasters}},
			spectators: {Name: stage.SpectatorsUser, Groups: []string{authn.GroupMasters}},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	made := map[story.Client]restclient.Credentials{}
	for who, token := range map[story.Client]string{story.Controller: controller, story.Spectators: spectators, story.Script: server.Token()} {
		if made[who], err = credentials.NewToken(token); err != nil {
			stopServer(server)
			return nil, nil, err
		}
	}
	return server, made, nil
}

// connection returns the client configuration for a listening server.
func connection(server *apiserver.Server) restclient.Config {
	return restclient.Config{
		Host:  server.URL(),
		TLS:   restclient.TLS{CAData: server.CertificateAuthority()},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // the server is on this machine
	}
}

// stopServer stops the server and waits two seconds at most for requests in flight.
func stopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}

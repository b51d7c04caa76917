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

// newServer makes a server, and says how those who take part reach it once it listens. It knows the controller and the
// spectators as users of their own, so that faults can hit the one and not the others; the script is its administrator.
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

// connection says how a server that listens is reached.
func connection(server *apiserver.Server) restclient.Config {
	return restclient.Config{
		Host:  server.URL(),
		TLS:   restclient.TLS{CAData: server.CertificateAuthority()},
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, // what goes on here stays on this machine
	}
}

// stopServer ends the server; what is under way is not waited for long.
func stopServer(server *apiserver.Server) {
	ending, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = server.Stop(ending)
}

package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// An APIService with spec.service announces that another server serves a version of a group. The
// registry knows whether that Service has endpoints; the worker here asks the other server for its
// resources, and requests for them are forwarded to it. Differences to kube-aggregator: it presents
// no client certificate, connects to an endpoint and not to the cluster IP, and publishes no
// OpenAPI document of the other server.

const (
	// askEvery is the interval between two requests for the resources of a server.
	askEvery = 10 * time.Second
	// askTimeout limits such a request.
	askTimeout = 5 * time.Second
	// maxAnnounced limits the size of the answer.
	maxAnnounced = 4 << 20
)

// askServices asks all remote servers for their resources: after a change, and regularly while
// there are any.
func (s *Server) askServices(ctx context.Context) {
	for {
		var again <-chan time.Time
		if remotes := s.registry.RemoteServices(); len(remotes) > 0 {
			for _, remote := range remotes {
				s.askService(ctx, remote)
			}
			again = time.After(askEvery)
		}
		select {
		case <-s.ask:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// askService records whether a remote server answers.
func (s *Server) askService(ctx context.Context, remote registry.RemoteService) {
	backend := s.registry.Backend(remote.Namespace, remote.Service, remote.Port)
	if backend.Address == "" {
		s.registry.ServiceAnswered(remote, nil, backend.Err) // writes the backend's reason
		return
	}
	path := (&url.URL{Scheme: "https", Host: backend.Address, Path: "/apis/" + remote.GroupVersion.String()}).String()
	announced, err := s.announced(ctx, remote, path)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.outgoing.to(destinationOf(remote)).CloseIdleConnections()
		err = fmt.Errorf("failing or missing response from %v: %w", path, err)
	}
	s.registry.ServiceAnswered(remote, announced, err)
}

// announced returns the resources that a server announces at a URL.
func (s *Server) announced(ctx context.Context, remote registry.RemoteService, path string) ([]api.APIResource, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	onBehalf(request.Header, User{Name: "system:kube-aggregator", Groups: []string{authn.GroupMasters}})
	client := &http.Client{
		Transport:     s.outgoing.to(destinationOf(remote)),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnnounced))
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("bad status from %v: %d", path, response.StatusCode)
	}
	var list api.APIResourceList
	return list.Resources, cmp.Or(err, json.Unmarshal(body, &list))
}

func destinationOf(remote registry.RemoteService) destination {
	return destination{
		serverName:  remote.Service + "." + remote.Namespace + ".svc",
		authorities: string(remote.CABundle), insecure: remote.Insecure,
	}
}

// onBehalf sets the headers by which an aggregated server learns the user.
func onBehalf(header http.Header, user User) {
	for _, name := range []string{"X-Remote-User", "X-Remote-Uid", "X-Remote-Group"} {
		header.Del(name)
	}
	header.Set("X-Remote-User", user.Name)
	if user.UID != "" {
		header.Set("X-Remote-Uid", user.UID)
	}
	for _, group := range user.Groups {
		header.Add("X-Remote-Group", group)
	}
}

// remote returns the server to which the request belongs, if that is another one.
func (x *exchange) remote() (registry.RemoteService, bool) {
	gv, found := groupVersionOf(x.r.URL.Path)
	if !found {
		return registry.RemoteService{}, false
	}
	if known, ok := x.server.catalog.Remote(gv); !ok || !known.Available {
		return registry.RemoteService{}, false // answered with 503
	}
	for _, remote := range x.server.registry.RemoteServices() {
		if remote.GroupVersion == gv {
			return remote, true
		}
	}
	return registry.RemoteService{}, false
}

// groupVersionOf returns the group and version of a path below /apis.
func groupVersionOf(path string) (api.GroupVersion, bool) {
	rest, below := strings.CutPrefix(path, "/apis/")
	group, rest, more := strings.Cut(rest, "/")
	version, _, _ := strings.Cut(rest, "/")
	return api.GroupVersion{Group: group, Version: version}, below && more
}

// forward sends the request to another server and copies its answer.
func (x *exchange) forward(remote registry.RemoteService) error {
	backend := x.server.registry.Backend(remote.Namespace, remote.Service, remote.Port)
	if backend.Address == "" {
		x.sendText(http.StatusServiceUnavailable, "service unavailable\n")
		return nil
	}
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	defer context.AfterFunc(x.server.life, cancel)()
	var failed error
	proxy := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "https", backend.Address
			r.Out.Host = backend.Address
			r.Out.Header.Del("Authorization")
			onBehalf(r.Out.Header, x.user)
		},
		Transport:     x.server.outgoing.to(destinationOf(remote)),
		FlushInterval: -1, // watches
		ErrorHandler:  func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
	}
	proxy.ServeHTTP(x.w, x.r.WithContext(ctx))
	if failed != nil && !errors.Is(failed, context.Canceled) {
		x.sendText(http.StatusServiceUnavailable, fmt.Sprintf("error trying to reach service: %v\n", failed))
	}
	return nil
}

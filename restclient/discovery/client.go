package discovery

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Config configures a [Client]. The zero value is useful.
type Config struct {
	// OnlyWhenReady asks the server first whether it is ready (/readyz), and fails with
	// [*NotReadyError] if not. A starting kube-apiserver answers before it knows all custom
	// resources and aggregated groups, as if there were no others. A caller that concludes from the
	// absence of a type that there are no objects of it must set this.
	//
	// A server that forbids the question counts as not ready for half a minute. Requests are sent
	// once: a retry could reach a server that was restarted meanwhile.
	OnlyWhenReady bool
}

const (
	concurrency    = 16               // concurrent requests to an old server
	requestTimeout = 32 * time.Second // of a request with its retries, as upstream
)

// Client discovers the API of a server. It is safe for concurrent use.
type Client struct {
	client   *restclient.Client
	cfg      Config
	refusals refusals
}

// New returns a Client with the default configuration.
func New(client *restclient.Client) *Client { return NewWithConfig(client, Config{}) }

// NewWithConfig returns a Client.
func NewWithConfig(client *restclient.Client, cfg Config) *Client {
	return &Client{client: client, cfg: cfg}
}

// ServerGroupsAndResources returns the groups, core first, and the resources, including
// subresources, both in the server's order. If only some group versions failed, the error is an
// [*ErrGroupDiscoveryFailed] with a partial result; any other error has no result.
func (c *Client) ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error) {
	found, err := c.discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	return found.groups, found.lists(), found.failure()
}

// ServerPreferredResources returns each resource once, in the version that the server prefers for
// its group, or in the first version that has it. Subresources are left out. Errors are as for
// ServerGroupsAndResources.
func (c *Client) ServerPreferredResources(ctx context.Context) ([]*api.APIResourceList, error) {
	return c.preferred(ctx, everything)
}

// ServerPreferredNamespacedResources returns the preferred resources whose objects live in
// namespaces.
func (c *Client) ServerPreferredNamespacedResources(ctx context.Context) ([]*api.APIResourceList, error) {
	return c.preferred(ctx, namespaced)
}

func (c *Client) preferred(ctx context.Context, wanted func(*api.APIResource) bool) ([]*api.APIResourceList, error) {
	found, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	return found.preferred(wanted), found.failure()
}

// ServerResourcesForGroupVersion returns the resources of one group version, by one small request
// to any server.
func (c *Client) ServerResourcesForGroupVersion(ctx context.Context,
	gv api.GroupVersion) (*api.APIResourceList, error) {
	list, _, err := c.resources(ctx, gv)
	return list, err
}

// ServerVersion returns the server's version.
func (c *Client) ServerVersion(ctx context.Context) (*api.VersionInfo, error) {
	var version api.VersionInfo
	if err := c.do(ctx, restclient.Request{Path: "/version"}, &version); err != nil {
		return nil, err
	}
	return &version, nil
}

func (c *Client) do(ctx context.Context, req restclient.Request, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.client.Do(ctx, req, into)
}

// get requests a document and returns the moment that it describes, by the server's clock; zero if
// unknown.
func (c *Client) get(ctx context.Context, req restclient.Request, into any) (asOf time.Time, err error) {
	var answer restclient.Response
	started := time.Now()
	if err := c.do(ctx, req, &answer); err != nil {
		return time.Time{}, err
	}
	asOf = describedMoment(answer.Header, time.Since(started))
	if err := api.Unmarshal(answer.Body, into); err != nil {
		return time.Time{}, unexpected(req.Path, err)
	}
	return asOf, nil
}

// describedMoment returns a moment, by the server's clock, that is not later than the state in the
// answer: the Date header is when the answer was written, and the request was sent at most the
// duration of the exchange before.
func describedMoment(header http.Header, took time.Duration) time.Time {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return date.Add(-took)
}

// resources fetches the legacy document of a group version.
func (c *Client) resources(ctx context.Context, gv api.GroupVersion) (*api.APIResourceList, time.Time, error) {
	path, err := restclient.VersionPath(gv)
	if err != nil {
		return nil, time.Time{}, err
	}
	var list api.APIResourceList
	asOf, err := c.get(ctx, restclient.Request{Path: path}, &list)
	if err != nil {
		return nil, time.Time{}, err
	}
	if list.Kind != "" && list.Kind != "APIResourceList" {
		err := fmt.Errorf("its kind is %q", api.CutText(list.Kind))
		return nil, time.Time{}, unexpected(path, err)
	}
	list.GroupVersion = gv.String()
	return &list, asOf, nil
}

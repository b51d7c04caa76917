package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"orrery/restclient"
	"orrery/restclient/api"
)

// discover discovers everything: two requests to a server with aggregated discovery, otherwise one
// more for each group version.
//
// The custom resource definition of a group may be deleted after the group was listed. Then its
// versions are not found, and count as failed.
func (c *Client) discover(ctx context.Context) (*found, error) {
	if c.cfg.OnlyWhenReady {
		ctx = api.WithSingleAttempt(ctx)
		if err := c.ready(ctx); err != nil {
			return nil, err
		}
	}
	result, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	c.fillIn(ctx, result)
	if err := context.Cause(ctx); err != nil {
		return nil, err // cancelled by the caller
	}
	return result, nil
}

// groups fetches /api and /apis in parallel. Aggregated documents include the resources.
func (c *Client) groups(ctx context.Context) (*found, error) {
	var core *found
	var coreErr error
	var asking sync.WaitGroup
	asking.Go(func() { core, coreErr = c.document(ctx, "/api") })
	named, err := c.document(ctx, "/apis")
	asking.Wait()
	switch {
	case coreErr != nil && (c.cfg.OnlyWhenReady || !api.IsNotFound(coreErr)):
		return nil, coreErr
	case coreErr != nil && err == nil:
		return named, nil // an extension server by itself has no core group
	case err != nil:
		return nil, err
	}
	core.add(named)
	return core, nil
}

// groupsDocument is any document of /api and /apis; the kind decides which fields it has.
type groupsDocument struct {
	api.TypeMeta
	Versions []string                `json:"versions"` // APIVersions, /api of old servers
	Groups   []api.APIGroup          `json:"groups"`   // APIGroupList, /apis of old servers
	Items    []api.APIGroupDiscovery `json:"items"`    // APIGroupDiscoveryList, both on new ones
}

// document fetches /api or /apis.
func (c *Client) document(ctx context.Context, path string) (*found, error) {
	var doc groupsDocument
	asOf, err := c.get(ctx, restclient.Request{Path: path, Accept: acceptAggregated}, &doc)
	if err != nil {
		return nil, err
	}
	result := newFound(asOf)
	// Check the kind, not the Content-Type: some proxies remove its parameters.
	switch {
	case doc.Kind == aggregatedKind && strings.HasPrefix(doc.APIVersion, aggregatedGroup):
		result.addGroups(doc.Items)
	case doc.Kind == "APIVersions":
		result.addCore(doc.Versions)
	case doc.Kind == "APIGroupList":
		for i := range doc.Groups {
			result.groups = append(result.groups, &doc.Groups[i])
		}
	default:
		return nil, unexpected(path, fmt.Errorf("its kind is %q", api.CutText(doc.Kind)))
	}
	for _, group := range result.groups {
		if group.Name == "" && path != "/api" { // it would replace the core group
			return nil, unexpected(path, errNoGroupName)
		}
	}
	return result, nil
}

var errNoGroupName = errors.New("it has a group without a name")

// addCore adds the core group with the versions of /api. The first is preferred.
func (f *found) addCore(versions []string) {
	if len(versions) == 0 {
		return
	}
	group := &api.APIGroup{}
	for _, version := range versions {
		group.Versions = append(group.Versions, api.GroupVersionForDiscovery{GroupVersion: version, Version: version})
	}
	group.PreferredVersion = group.Versions[0]
	f.groups = append(f.groups, group)
}

// fillIn fetches the missing resources of group versions in parallel. It records failures.
func (c *Client) fillIn(ctx context.Context, result *found) {
	var missing []api.GroupVersion
	for _, gv := range result.versions {
		if result.resources[gv] == nil {
			missing = append(missing, gv)
		}
	}
	var mu sync.Mutex // guards result
	var running sync.WaitGroup
	slots := make(chan struct{}, concurrency)
	for _, gv := range missing {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			list, asOf, err := c.resources(ctx, gv)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				result.failed[gv] = withoutAttempts(err)
				return
			}
			result.resources[gv] = list
			result.describes(asOf)
		})
	}
	running.Wait()
}

package main

import (
	"context"

	discovery "k8s.io/api/apidiscovery/v2"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// resource is a line of the file of resources, from discovery and a table.
type resource struct {
	Group        string        `json:"group,omitempty"`
	Version      string        `json:"version"`
	Plural       string        `json:"plural"`
	Singular     string        `json:"singular"`
	Kind         string        `json:"kind"`
	Namespaced   bool          `json:"namespaced,omitempty"`
	Verbs        []string      `json:"verbs"`
	ShortNames   []string      `json:"shortNames,omitempty"`
	Categories   []string      `json:"categories,omitempty"`
	Subresources []subresource `json:"subresources,omitempty"`
	Columns      []column      `json:"columns,omitempty"`
}

type subresource struct {
	Name    string   `json:"name"`
	Group   string   `json:"group,omitempty"`
	Version string   `json:"version,omitempty"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

// column is a column without its description, which our server has in its own words.
type column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Format   string `json:"format,omitempty"`
	Priority int32  `json:"priority,omitempty"`
}

// path returns the resource's path without a namespace.
func (r resource) path() string { return "/" + r.document() + "/" + r.Plural }

// document returns the path of the group version, below / and below /openapi/v3/.
func (r resource) document() string {
	return resources.PathOf(api.GroupVersion{Group: r.Group, Version: r.Version})
}

// resources returns kube-apiserver's default resources in the order of discovery.
func (s server) resources(ctx context.Context) ([]resource, error) {
	var all []resource
	for _, root := range []string{"/api", "/apis"} {
		var list discovery.APIGroupDiscoveryList
		accept := "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		if err := s.get(ctx, root, accept, &list); err != nil {
			return nil, err
		}
		for _, group := range list.Items {
			for _, version := range group.Versions {
				for _, found := range version.Resources {
					r := newResource(group.Name, version.Version, found)
					if err := r.readColumns(ctx, s); err != nil {
						return nil, err
					}
					all = append(all, r)
				}
			}
		}
	}
	return all, nil
}

func newResource(group, version string, found discovery.APIResourceDiscovery) resource {
	r := resource{
		Group: group, Version: version, Plural: found.Resource, Singular: found.SingularResource,
		Kind:       found.ResponseKind.Kind,
		Namespaced: found.Scope == discovery.ScopeNamespace, Verbs: found.Verbs, ShortNames: found.ShortNames,
		Categories: found.Categories,
	}
	for _, sub := range found.Subresources {
		s := subresource{Name: sub.Subresource, Verbs: sub.Verbs}
		if kind := sub.ResponseKind; kind != nil {
			s.Group, s.Version, s.Kind = kind.Group, kind.Version, kind.Kind
		}
		r.Subresources = append(r.Subresources, s)
	}
	return r
}

// readColumns requests a list as a table.
func (r *resource) readColumns(ctx context.Context, s server) error {
	for _, verb := range r.Verbs {
		if verb != "list" {
			continue
		}
		var table meta.Table
		if err := s.get(ctx, r.path(), "application/json;as=Table;g=meta.k8s.io;v=v1", &table); err != nil {
			return err
		}
		for _, c := range table.ColumnDefinitions {
			r.Columns = append(r.Columns, column{c.Name, c.Type, c.Format, c.Priority})
		}
	}
	return nil
}

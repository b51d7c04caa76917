package main

import (
	"context"
	"encoding/json"
	"fmt"

	discovery "k8s.io/api/apidiscovery/v2"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
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
func (r resource) path() string {
	if r.Group == "" {
		return "/api/" + r.Version + "/" + r.Plural
	}
	return "/apis/" + r.Group + "/" + r.Version + "/" + r.Plural
}

// document returns the path of the group version below /openapi/v3/.
func (r resource) document() string {
	if r.Group == "" {
		return "api/" + r.Version
	}
	return "apis/" + r.Group + "/" + r.Version
}

// resourcesOf returns kube-apiserver's default resources in the order of discovery.
func resourcesOf(ctx context.Context, client rest.Interface) ([]resource, error) {
	var all []resource
	for _, root := range []string{"/api", "/apis"} {
		var list discovery.APIGroupDiscoveryList
		accept := "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		if err := get(ctx, client, root, accept, &list); err != nil {
			return nil, err
		}
		for _, group := range list.Items {
			for _, version := range group.Versions {
				for _, found := range version.Resources {
					r := newResource(group.Name, version.Version, found)
					if err := r.readColumns(ctx, client); err != nil {
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
		Group: group, Version: version, Plural: found.Resource, Singular: found.SingularResource, Kind: found.ResponseKind.Kind,
		Namespaced: found.Scope == discovery.ScopeNamespace, Verbs: found.Verbs, ShortNames: found.ShortNames, Categories: found.Categories,
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
func (r *resource) readColumns(ctx context.Context, client rest.Interface) error {
	for _, verb := range r.Verbs {
		if verb != "list" {
			continue
		}
		var table meta.Table
		if err := get(ctx, client, r.path(), "application/json;as=Table;g=meta.k8s.io;v=v1", &table); err != nil {
			return err
		}
		for _, c := range table.ColumnDefinitions {
			r.Columns = append(r.Columns, column{c.Name, c.Type, c.Format, c.Priority})
		}
	}
	return nil
}

func get(ctx context.Context, client rest.Interface, path, accept string, into any) error {
	data, err := client.Get().AbsPath(path).SetHeader("Accept", accept).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

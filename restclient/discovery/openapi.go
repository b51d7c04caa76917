package discovery

import (
	"context"
	"fmt"
	"net/url"

	"orrery/restclient"
)

// OpenAPIV2 returns the OpenAPI 2.0 document of the whole server, JSON. It is several megabytes.
func (c *Client) OpenAPIV2(ctx context.Context) ([]byte, error) {
	var document []byte
	err := c.do(ctx, restclient.Request{Path: "/openapi/v2"}, &document)
	return document, err
}

// OpenAPIV3 returns the paths of the OpenAPI 3.0 documents that the server has, "apis/apps/v1" for instance, and where
// each is to be found. The place changes with the content, so it can be used to recognise a document that is known
// already.
func (c *Client) OpenAPIV3(ctx context.Context) (map[string]string, error) {
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := c.do(ctx, restclient.Request{Path: "/openapi/v3"}, &index); err != nil {
		return nil, err
	}
	paths := make(map[string]string, len(index.Paths))
	for path, entry := range index.Paths {
		paths[path] = entry.ServerRelativeURL
	}
	return paths, nil
}

// OpenAPIV3Document returns the OpenAPI 3.0 document, JSON, at a place that OpenAPIV3 told.
func (c *Client) OpenAPIV3Document(ctx context.Context, serverRelativeURL string) ([]byte, error) {
	place, err := url.Parse(serverRelativeURL)
	if err != nil || place.IsAbs() || place.Host != "" {
		return nil, fmt.Errorf("%q is no place on the server itself", serverRelativeURL)
	}
	var document []byte
	err = c.do(ctx, restclient.Request{Path: place.EscapedPath(), Query: place.Query()}, &document)
	return document, err
}

package schema

import "orrery/restclient/api"

// Resource is what the OpenAPI documents need to know of a resource that the server serves.
type Resource struct {
	GVK              api.GroupVersionKind
	Plural, Singular string
	Namespaced       bool
	// Verbs are get, list, watch, create, update, patch, delete, deletecollection; nil: all of them.
	Verbs []string
	// Subresources are names such as "status".
	Subresources []string
	// Schema is the openAPIV3Schema of a custom resource; nil for types of Kubernetes itself.
	Schema map[string]any
}

// OpenAPIV2 returns the document of /openapi/v2, as JSON.
func OpenAPIV2(resources []Resource) []byte { return []byte(`{"swagger":"2.0"}`) }

// OpenAPIV3Index returns the document of /openapi/v3: where the document of each group and version is found.
func OpenAPIV3Index(resources []Resource) []byte { return []byte(`{"paths":{}}`) }

// OpenAPIV3 returns the document of one group and version, false if no resource belongs to it.
func OpenAPIV3(resources []Resource, gv api.GroupVersion) ([]byte, bool) { return nil, false }

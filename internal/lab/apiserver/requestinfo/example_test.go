package requestinfo_test

import (
	"fmt"

	"orrery/internal/lab/apiserver/requestinfo"
)

// namespaces is a prefix in one path and the resource in another.
func ExampleParse() {
	for _, path := range []string{
		"/api/v1/namespaces/shop", "/api/v1/namespaces/shop/pods/web/log", "/apis/apps/v1/deployments", "/healthz",
	} {
		info := requestinfo.Parse("GET", path)
		fmt.Printf("%s %q %q %q in %q\n", info.Verb, info.Resource, info.Name, info.Subresource, info.Namespace)
	}
	// Output:
	// get "namespaces" "shop" "" in "shop"
	// get "pods" "web" "log" in "shop"
	// list "deployments" "" "" in ""
	// get "" "" "" in ""
}

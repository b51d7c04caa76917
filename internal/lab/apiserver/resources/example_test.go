package resources_test

import (
	"encoding/json"
	"fmt"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// What a server does to a new Deployment before it stores it.
func Example() {
	catalog := resources.NewCatalog()
	deployments, _ := catalog.Lookup(api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})

	var o api.Unstructured
	_ = json.Unmarshal([]byte(`{"metadata":{"name":"web","namespace":"shop"},"spec":{
		"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}}}`), &o)
	deployments.Strategy.Default(&o)
	deployments.Strategy.PrepareCreate(&o)
	fmt.Println(o.NestedInt64("spec", "replicas"), o.NestedString("spec", "strategy", "type"), o.NestedInt64("metadata", "generation"))
	for _, err := range deployments.Strategy.Validate(&o) {
		fmt.Println(err)
	}
	// Output:
	// 1 RollingUpdate 1
	// spec.template.metadata.labels: Invalid value: {"app":"shop"}: `selector` does not match template `labels`
}

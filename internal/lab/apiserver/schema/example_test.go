package schema_test

import (
	"fmt"

	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

func ExampleType_Check() {
	deployment, _ := schema.Builtin().Type(api.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	for _, spec := range []map[string]any{{"replicas": int64(3)}, {"replica": int64(3)}, {"replicas": "three"}} {
		findings := deployment.Check(map[string]any{"spec": spec})
		fmt.Println(findings.Unknown, findings.TypeError)
	}
	// Output:
	// [] <nil>
	// [unknown field "spec.replica"] <nil>
	// [] json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32
}

func ExampleDuplicates() {
	fmt.Println(schema.Duplicates([]byte(`{"metadata":{"name":"a","name":"b"}}`)))
	// Output: [duplicate field "metadata.name"]
}

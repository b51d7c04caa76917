package patch_test

import (
	"encoding/json"
	"fmt"

	"orrery/internal/lab/apiserver/patch"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// A merge patch replaces a list; a strategic merge patch finds the element.
func ExampleApply() {
	deployment := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "web", "image": "web:1"},
		map[string]any{"name": "log", "image": "log:1"},
	}}}}}
	change := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`)
	t, _ := schema.Builtin().Type(api.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})

	for _, kind := range []api.PatchType{api.MergePatchType, api.StrategicMergePatchType} {
		patched, err := patch.Apply(kind, deployment, change, t)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := json.Marshal(patched)
		fmt.Println(string(text))
	}
	_, err := patch.Apply(api.StrategicMergePatchType, deployment, []byte(`{"spec":{"replicas":"two"}}`), t)
	fmt.Println(err)
	// Output:
	// {"spec":{"template":{"spec":{"containers":[{"image":"web:2","name":"web"}]}}}}
	// {"spec":{"template":{"spec":{"containers":[{"image":"web:2","name":"web"},{"image":"log:1","name":"log"}]}}}}
	//  "" is invalid: patch: Invalid value: "map[spec:map[replicas:two]]": unrecognized type: int32
}

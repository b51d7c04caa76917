package api_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"orrery/restclient/api"
)

// Functions classify a refused request by its reason, however deep the error is wrapped.
func Example() {
	const answer = `{"kind":"Status","status":"Failure","reason":"Conflict","code":409,
		"message":"Operation cannot be fulfilled on namespaces \"shop\": the object has been modified"}`
	var status api.Status
	if err := json.Unmarshal([]byte(answer), &status); err != nil {
		fmt.Println(err)
		return
	}
	err := fmt.Errorf("cannot write the conditions: %w", api.NewStatusError(status))
	fmt.Println(api.IsConflict(err), api.IsNotFound(err), api.CodeOf(err))

	var refused *api.StatusError
	if errors.As(err, &refused) {
		fmt.Println(refused.Status.Message)
	}
	// Output:
	// true false 409
	// Operation cannot be fulfilled on namespaces "shop": the object has been modified
}

func ExampleUnstructured() {
	var widget api.Unstructured
	err := json.Unmarshal([]byte(`{"kind":"Widget","metadata":{"name":"w"},"spec":{"size":{"width":3}}}`), &widget)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(widget.GetKind(), widget.GetName(), widget.NestedInt64("spec", "size", "width"))
	fmt.Println(widget.NestedString("spec", "no", "such", "thing") == "")
	// Output:
	// Widget w 3
	// true
}

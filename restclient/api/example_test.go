package api_test

import (
	"encoding/json"
	"fmt"

	"orrery/restclient/api"
)

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

package names_test

import (
	"fmt"

	"orrery/internal/lab/apiserver/names"
)

// The same name is good for one kind and bad for another.
func Example() {
	fmt.Println(len(names.Subdomain("v1.example")), names.Label("v1.example"))
	fmt.Println(names.PathSegment("system:node", false))
	// Output:
	// 0 [must not contain dots]
	// []
}

package names_test

import (
	"fmt"

	"orrery/internal/lab/apiserver/names"
)

// The same name may be valid for one kind and invalid for another.
func Example() {
	fmt.Println(len(names.Subdomain("v1.example")), names.Label("v1.example"))
	fmt.Println(names.PathSegment("system:node", false))
	// Output:
	// 0 [must not contain dots]
	// []
}

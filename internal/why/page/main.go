// Command page writes docs/operate/stuck-namespaces.md from the catalogue of package why. `go
// generate ./internal/why` runs it.
package main

import (
	"fmt"
	"os"

	"orrery/internal/why"
)

// page is its path from the directory of package why, where go generate starts it.
const page = "../../docs/operate/stuck-namespaces.md"

func main() {
	if err := os.WriteFile(page, []byte(why.Page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package display_test

import (
	"fmt"
	"strings"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/story"
)

// A page is made of a state and a size, and of nothing else.
func ExamplePage() {
	state := story.State{
		Scene:     "delete",
		Namespace: story.Namespace{Name: "shop", Phase: "Terminating"},
		Types:     []story.Type{{Name: "pods", Left: 5, Most: 20}},
		Now:       "pods first",
	}
	state.Tell(story.Deleter, "pods: told to go")
	for _, line := range display.Page(state, display.Size{Width: 40, Height: 6}, &display.ASCII) {
		fmt.Println("|" + strings.TrimRight(line.String(), " "))
	}
	// Output:
	// | lab demo > delete                0.0 s
	// | shop: Terminating
	// | pods #######....................     5
	// | deleter   pods: told to go
	// | > pods first
	// |
}

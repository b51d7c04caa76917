package display_test

import (
	"fmt"
	"strings"

	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/story"
)

// A page depends only on a state and a size.
func ExamplePage() {
	state := story.State{
		Scene:     "delete",
		Namespace: story.Namespace{Name: "shop", Phase: "Terminating"},
		Types:     []story.Type{{Name: "pods", Left: 5, Most: 20}},
		Now:       "pods first",
	}
	state.Tell(story.Deleter, "pods: deleted")
	for _, line := range display.Page(state, display.Size{Width: 40, Height: 6}, &display.ASCII) {
		fmt.Println("|" + strings.TrimRight(line.String(), " "))
	}
	// Output:
	// | lab demo > delete                0.0 s
	// | shop: Terminating
	// | pods #######....................     5
	// | deleter   pods: deleted
	// | > pods first
	// |
}

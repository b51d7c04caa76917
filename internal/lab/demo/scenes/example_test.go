package scenes_test

import (
	"fmt"

	"orrery/internal/lab/demo/scenes"
)

func Example() {
	for _, scene := range scenes.All() {
		fmt.Println(scene.Name + ": " + scene.Summary)
	}
	// Output:
	// delete: a full namespace is deleted, gear by gear
	// finalizer: a namespace hangs in Terminating, because nobody works off a finalizer
	// broken-apiservice: a namespace hangs in Terminating, because an aggregated API does not answer
	// expired-watch: all watches break, history is forgotten, and nothing is lost
	// slow-handler: a handler that takes its time, and everybody else who does not notice
	// conflict: somebody else keeps changing the namespace: 409, read again, repeat
	// second-party: two parties hold a namespace, each with its own token in spec.finalizers
	// emptied-finalizers: spec.finalizers is emptied by hand, and what was left comes back
	// virtualmachine: a second controller: machines outside of the cluster, held by a finalizer
	// rollout: a deployment grows while its controller's cache is behind, and is rolled out
	// garbage: three ways to delete an owner: background, foreground, orphan
}

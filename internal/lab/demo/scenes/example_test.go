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
	// finalizer: a namespace hangs in Terminating because no operator removes a finalizer
	// broken-apiservice: a namespace hangs in Terminating because an aggregated API does not answer
	// expired-watch: all watches break, the server forgets its history, and nothing is lost
	// slow-handler: a slow handler, and the rest of the controller that is not affected
	// conflict: another client keeps changing the namespace: 409, read again, repeat
	// second-party: two controllers hold a namespace, each with its own token in spec.finalizers
	// emptied-finalizers: spec.finalizers is emptied by hand, and the content comes back
	// stuck: two namespaces hang, and their conditions say what, but not why
	// virtualmachine: a second controller: machines outside of the cluster, held by a finalizer
	// rollout: a deployment is scaled while the cache is stale, then rolled out
	// garbage: three ways to delete an owner: background, foreground, orphan
	// errors: each refusal with its decision: repeat, list again, or give up
	// two-ways-of-410: a 410 as the code of an answer, and as an event inside of a 200 stream
	// index: a pod moves between two sets, and then a reader changes a stored object
	// slow-consumer: seven events for one Pop: slots are keys, letters are deltas
	// store-decides: one type of delta causes three different calls, because the store decides
	// resync: a wave from the store to the handlers, and no request to the server
	// one-key: a key is added a hundred times while a worker holds it: one more pass
	// back-off: two keys fail, recover, and fail again; Forget is called for one of them
	// worker-pool: when periodic functions start, and a worker that comes back after a panic
	// two-queues: the same events through DeltaFIFO and through the queue in order
	// stall: two harnesses measure a queue whose worker stalls for a second
}

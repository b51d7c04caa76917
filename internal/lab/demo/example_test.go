package demo_test

import (
	"context"
	"fmt"
	"os"

	"orrery/internal/lab/demo"
)

func ExampleRun() {
	err := demo.Run(context.Background(), demo.Config{Scene: "delite", Out: os.Stdout}, &demo.Curtain{})
	fmt.Println(err)
	// Output:
	// there is no scene "delite"; the scenes are delete, finalizer, broken-apiservice, expired-watch, slow-handler, conflict, second-party, emptied-finalizers, stuck, virtualmachine, rollout, garbage, errors, two-ways-of-410, index, slow-consumer, store-decides, resync, one-key, back-off, worker-pool, two-queues, stall
}

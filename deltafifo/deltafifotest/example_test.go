package deltafifotest_test

import (
	"fmt"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
)

// A queue with a consumer behind it, in a few lines: the consumer is the store that the queue
// knows, and keeps a journal of what handlers would be told.
func ExampleConsumer() {
	consumer := deltafifotest.NewConsumer(deltafifotest.Obj("old", 1))
	queue := deltafifo.New(deltafifo.Config[*deltafifotest.Object]{
		KeyFunc:      deltafifotest.KeyFunc,
		KnownObjects: consumer,
	})
	_ = queue.Replace([]*deltafifotest.Object{deltafifotest.Obj("new", 7)}, "1")
	queue.Close()
	for {
		deltas, err := queue.Pop(consumer.Process)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(deltafifotest.DescribeAll(deltas))
	}
	fmt.Println(consumer.Journal(), consumer.Objects())
	// Output:
	// Replaced new@7
	// Deleted old@1 (inferred)
	// deltafifo: the queue is closed
	// [add new@7 delete old@1] [new@7]
}

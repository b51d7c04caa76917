package deltafifotest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
)

func TestConsumerLetsTheStoreDecide(t *testing.T) {
	var c deltafifotest.Consumer
	deltas := deltafifo.Deltas[*deltafifotest.Object]{
		{Type: deltafifo.Updated, Object: deltafifotest.Obj("a", 1)},
		{Type: deltafifo.Added, Object: deltafifotest.Obj("a", 2)},
		{Type: deltafifo.Deleted, Object: deltafifotest.Obj("a", 3)},
	}
	assert.NoError(t, c.Process("a", deltas, false))
	assert.Equal(t, []string{"add a@1", "update a@1 a@2", "delete a@3"}, c.Journal())
	assert.Empty(t, c.Objects())
}

// A queue with a consumer, which is the store behind the queue and keeps a journal of the handler's
// events.
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

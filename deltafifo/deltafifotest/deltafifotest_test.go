package deltafifotest_test

import (
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

package nsctl_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A type appears, and an object of it gets into a namespace through a server that has not learnt of the deletion yet: for
// that there is the grace period. A discovery that was made for another namespace meanwhile knows nothing of it, although it
// is younger than the deletion.
func TestATypeThatAppearsWithinTheGracePeriodIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("first", true, "kubernetes")
		r := startController(t, c, nil)
		time.Sleep(time.Second)
		c.addNamespace("second", true, "kubernetes") // its first pass is at 6 s
		time.Sleep(4500 * time.Millisecond)
		assert.Nil(t, c.namespace("first"), "its pass has discovered the types at 5 s")
		c.define("late.example/v1", "gadgets")
		c.put("gadgets.late.example", "second", "g")
		time.Sleep(time.Second)
		assert.Nil(t, c.namespace("second"))
		assert.Empty(t, c.left("second"))
		r.stop()
	})
}

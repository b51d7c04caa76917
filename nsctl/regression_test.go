package nsctl_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// Whoever calls Delete has waited until nothing can be created in the namespace, and nothing else says when that was. What was
// discovered for another namespace before may know too little.
func TestDeleteTrustsNoDiscoveryFromBeforeItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("first", true, "kubernetes")
		time.Sleep(2 * time.Second)
		c.addNamespace("second", true, "kubernetes")
		d := newDeleter(t, c)
		time.Sleep(3 * time.Second)
		require.NoError(t, d.Delete(t.Context(), "first"))
		time.Sleep(time.Second)
		c.define("late.example/v1", "gadgets")
		c.put("gadgets.late.example", "second", "g")
		time.Sleep(time.Second)
		require.NoError(t, d.Delete(t.Context(), "second"))
		assert.Empty(t, c.left("second"))
	})
}

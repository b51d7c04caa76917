package nsctltest

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
func (s suite) ATypeThatAppearsWithinTheGracePeriodIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("first", true, "kubernetes")
		r := StartController(t, c, s.New, nil)
		time.Sleep(time.Second)
		c.AddNamespace("second", true, "kubernetes") // its first pass is at 6 s
		time.Sleep(4500 * time.Millisecond)
		assert.Nil(t, c.Namespace("first"), "its pass has discovered the types at 5 s")
		c.Define("late.example/v1", "gadgets")
		c.Put("gadgets.late.example", "second", "g")
		time.Sleep(time.Second)
		assert.Nil(t, c.Namespace("second"))
		assert.Empty(t, c.Left("second"))
		r.Stop()
	})
}

// The caller of Delete has waited until nothing can be created in the namespace, and may not know since when. What was
// discovered for another namespace before may know too little.
func (s suite) DeleteTrustsNoDiscoveryFromBeforeItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("first", true, "kubernetes")
		time.Sleep(2 * time.Second)
		c.AddNamespace("second", true, "kubernetes")
		d := s.newDeleter(t, c)
		time.Sleep(3 * time.Second)
		require.NoError(t, d.Delete(t.Context(), "first"))
		time.Sleep(time.Second)
		c.Define("late.example/v1", "gadgets")
		c.Put("gadgets.late.example", "second", "g")
		time.Sleep(time.Second)
		require.NoError(t, d.Delete(t.Context(), "second"))
		assert.Empty(t, c.Left("second"))
	})
}

package nsctltest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A type is added, and a server that has not learnt of the deletion creates an object of it in the
// namespace; the grace period covers that. A discovery made meanwhile for another namespace does
// not list the type, although it is later than the deletion.
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
		c.AssertGone(t, "second")
		assert.Empty(t, c.Left("second"))
		r.Stop()
	})
}

// The caller of Delete has waited until nothing can be created in the namespace, but may not know
// since when. An earlier discovery, made for another namespace, may be too old.
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

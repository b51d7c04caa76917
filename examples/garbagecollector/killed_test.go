package garbagecollector_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// The collector is killed before each of its requests in turn and restarted. Everything
// converges, and objects with an existing owner remain.
func TestKilledBeforeEveryRequest(t *testing.T) {
	for _, name := range []string{gears.Fast, gears.Textbook} {
		t.Run(name, func(t *testing.T) {
			set, err := gears.Parse(name)
			require.NoError(t, err)
			requests := 0
			for last := false; !last; requests += clustertest.KillStep() {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, set)
					var left atomic.Int64
					left.Store(1 << 30)
					w.start(func(string) {
						if left.Add(-1) == 0 {
							w.cancel()
						}
					})
					w.populate()
					w.rest()
					left.Store(int64(requests + 1))
					w.deleteSome()
					w.rest()
					last = left.Load() > 0
					w.kill()
					w.start(nil)
					assert.Equal(t, []string{"b", "child", "o-child", "same"}, w.names(), "killed before request %d",
						requests)
				})
			}
			require.Greater(t, requests, 10)
		})
	}
}

func (w *world) populate() {
	w.create("child", owned("a", w.create("a")), owned("b", w.create("b")))
	f := w.create("f")
	child := w.create("f-child", owned("f", f))
	w.create("f-grandchild", owned("f-child", child))
	w.create("f-loose", owned("-f", f))
	w.create("o-child", owned("o", w.create("o")))
	one := w.create("c1")
	two := w.create("c2", owned("c1", one))
	w.merge("c1", ownedBy("c2", two))
	w.create("same-child", owned("same", w.create("same")))
}

func (w *world) deleteSome() {
	w.delete("a", api.DeletePropagationBackground)
	w.delete("f", api.DeletePropagationForeground)
	w.delete("o", api.DeletePropagationOrphan)
	w.delete("c1", api.DeletePropagationForeground)
	w.delete("same", api.DeletePropagationBackground)
	w.create("same")
}

package causes_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// Each situation can be solved without leaving or damaging anything. What many pages on the web
// advise, to empty spec.finalizers by hand, does not pass, and the check says why.
func TestBreak(t *testing.T) {
	all := causes.Fixtures()
	seeds := causes.Seeds
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, name := range []string{"first", "second"} {
			f := causes.OfCourse(name, uint64(seed+1))
			if !slices.ContainsFunc(all, func(other causes.Fixture) bool { return other.ID == f.ID }) {
				all = append(all, f)
			}
		}
	}
	for _, f := range all {
		t.Run(f.ID, func(t *testing.T) {
			t.Run("solved", func(t *testing.T) {
				settled(t, f, func(t *testing.T, _ *clustertest.Cluster, w *causes.World) {
					require.NotEmpty(t, f.Intact(w), "nothing was done yet")
					f.Solve(w)
					require.NoError(t, w.Err())
					time.Sleep(3 * time.Minute)
					assert.Empty(t, f.Intact(w))
					assert.Equal(t, slices.Contains(f.IDs(), "C07"), w.Excluded(),
						"the solution of C07 excludes the namespace")
					assert.NoError(t, w.Err())
				})
			})
			t.Run("by hand", func(t *testing.T) {
				settled(t, f, func(t *testing.T, _ *clustertest.Cluster, w *causes.World) {
					causes.Finalize(w)
					require.NoError(t, w.Err())
					problems := f.Intact(w)
					t.Log(problems)
					assert.NotEmpty(t, problems)
					assert.NoError(t, w.Err())
				})
			})
		})
	}
}

// A server on which a situation is set up already, or that has an object which the end of the
// situation would delete, is left as it is.
func TestBreakRefuses(t *testing.T) {
	f := causes.OfCourse("first", 1)
	for _, name := range []string{"lab", causes.Namespace, "cert-manager", causes.MachineRoom} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.New(t)
				c.Must(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`)
				before := len(clustertest.Get[api.List[*api.Namespace]](c, "/api/v1/namespaces").Items)
				w := causes.NewWorld(t.Context(), c.Admin())
				require.ErrorContains(t, w.Break(f), "/api/v1/namespaces/"+name+" exists on this server")
				after := clustertest.Get[api.List[*api.Namespace]](c, "/api/v1/namespaces")
				assert.Len(t, after.Items, before)
			})
		})
	}
}

// One situation can be set up right after another has been ended.
func TestBreakAfterEnd(t *testing.T) {
	for _, id := range []string{"C04", "C18", "C11"} {
		f, _ := causes.Find(id)
		t.Run(id, func(t *testing.T) {
			inWorld(t, f, func(*causes.World) {}, time.Millisecond, func(t *testing.T, c *clustertest.Cluster) {
				w := causes.NewWorld(t.Context(), c.Admin())
				defer w.Wait()
				for range 3 {
					require.NoError(t, w.Break(f))
					time.Sleep(causes.Settled)
					require.NoError(t, w.End(f))
				}
			})
		})
	}
}

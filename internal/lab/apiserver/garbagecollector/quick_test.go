package garbagecollector

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// A forest of owners is made, each object with up to two owners among those before it, and some objects are deleted. What is
// left in the end must be what the rules say, worked out here in the simplest way.
func TestRandomForests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.IntRange(2, 12).Draw(rt, "objects")
		parents := make([][]int, count)
		for i := 1; i < count; i++ {
			parents[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 2), rapid.ID[int]).Draw(rt, "owners")
		}
		blocking := rapid.SliceOfN(rapid.Bool(), count, count).Draw(rt, "blocking")
		victims := rapid.SliceOfNDistinct(rapid.IntRange(0, count-1), 1, 3, rapid.ID[int]).Draw(rt, "deleted")
		policies := rapid.SliceOfN(rapid.SampledFrom([]api.DeletePropagation{
			api.DeletePropagationBackground, api.DeletePropagationForeground, api.DeletePropagationOrphan}), 3, 3).Draw(rt, "policies")

		var left []string
		synctest.Test(t, func(t *testing.T) {
			c := start(t, nil)
			uids := make([]string, count)
			for i := range count {
				var references []map[string]any
				for _, parent := range parents[i] {
					references = append(references, owned("ConfigMap", name(parent), uids[parent], blocking[i]))
				}
				uids[i] = c.create(name(i), references...)
			}
			for n, victim := range victims {
				if slices.Contains(c.names(), name(victim)) {
					c.delete(name(victim), policies[n])
				}
			}
			left = c.names()
		})
		require.Equal(t, survivors(parents, victims, policies), left)
	})
}

func name(i int) string { return fmt.Sprintf("o%02d", i) }

// survivors works out who is left: an orphaned object is one that never had that owner, and an object goes when it had owners
// and has lost all of them.
func survivors(parents [][]int, victims []int, policies []api.DeletePropagation) []string {
	alive, owners := map[int]bool{}, make([]map[int]bool, len(parents))
	for i := range parents {
		alive[i], owners[i] = true, map[int]bool{}
		for _, parent := range parents[i] {
			owners[i][parent] = true
		}
	}
	var remove func(i int, forget bool)
	remove = func(i int, forget bool) {
		delete(alive, i)
		for child := range slices.Values(slices.Sorted(maps.Keys(alive))) {
			if !alive[child] || !owners[child][i] {
				continue
			}
			delete(owners[child], i)
			if len(owners[child]) == 0 && !forget {
				remove(child, false)
			}
		}
	}
	for n, victim := range victims {
		if alive[victim] {
			remove(victim, policies[n] == api.DeletePropagationOrphan)
		}
	}
	names := []string{}
	for _, i := range slices.Sorted(maps.Keys(alive)) {
		names = append(names, name(i))
	}
	return names
}

package machine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

type noStreamingLists struct {
	*informertest.FakeSource[*api.Namespace]
}

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }

func TestWhenStreamingListsAreNotTried(t *testing.T) {
	for name, change := range map[string]func(f *fixture){
		"switched off":          func(f *fixture) { f.config.DisableWatchList = true },
		"no key function":       func(f *fixture) { f.config.KeyFunc = nil },
		"the source declines":   func(f *fixture) { f.config.ListerWatcher = noStreamingLists{f.source} },
		"refused by the server": func(f *fixture) { f.source.SetStreamingList(informertest.StreamingRefused) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
				change(f)
				stop := f.run()
				synctest.Wait()
				assert.False(t, f.Snapshot().StreamingList)
				assert.Len(t, f.requests("list"), 1)
				stop()
			})
		})
	}
}

// TestCollectingSurvivesBadObjects: an object without a key is left out of a streaming list and
// reported.
func TestCollectingSurvivesBadObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.DisableWatchList = false
		f.config.KeyFunc = func(ns *api.Namespace) (string, error) {
			if ns.Name == "bad" {
				return "", errors.New("no name for this")
			}
			return ns.Name, nil
		}
		var reported []*reflector.StoreError
		f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) { reported = append(reported, err) }}
		f.source.Add(informertest.Namespace("a"))
		f.source.Add(informertest.Namespace("bad"))
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.State())
		require.Len(t, reported, 1)
		assert.Equal(t, reflector.OpKey, reported[0].Op)
		assert.Equal(t, "3", reported[0].ResourceVersion)
		assert.Equal(t, 1, f.Snapshot().StoreErrors)
		assert.Same(t, reported[0], f.Snapshot().LastStoreError)
		stop()
	})
}

// TestRepeatedTokenLeadsToTheWholeList: a server that repeats a continue token is asked for
// the whole list at once.
func TestRepeatedTokenLeadsToTheWholeList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var asked []api.ListOptions
		f.config.PageSize = 1
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
				asked = append(asked, opts)
				if opts.Limit > 0 {
					return reflectortest.ListOf("5", "again", informertest.Namespace("a")), nil
				}
				return reflectortest.ListOf("5", "", informertest.Namespace("a"), informertest.Namespace("b")), nil
			},
			OnWatch: f.source.Watch,
		}
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, []api.ListOptions{
			{ResourceVersion: "0", Limit: 1}, {Limit: 1, Continue: "again"}, {ResourceVersion: "0"}}, asked)
		assert.Len(t, f.store.State(), 2)
		stop()
	})
}

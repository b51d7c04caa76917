package reflectortest

import (
	"errors"
	"runtime"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

var listCases = []suiteCase{
	{"the store gets the list, and then what changes", "", func(f *fixture) {
		f.add("kept")
		f.add("deleted")
		f.start()
		assert.Equal(f, map[string]string{"kept": "2", "deleted": "3"}, f.store.State())
		f.source.Modify(informertest.Namespace("kept"))
		f.source.Delete("deleted")
		f.add("new")
		f.pass(0)
		assert.Equal(f, map[string]string{"kept": "4", "new": "6"}, f.store.State())
		assert.Equal(f, "6", f.LastSyncResourceVersion())
		assert.Equal(f, []string{"3"}, f.store.Replaced())
		assert.Equal(f, []string{"0"}, f.asked("list"), "the first list takes what the server has in its cache")
		assert.Equal(f, []string{"3"}, f.asked("watch"), "the watch begins at the version of the list")
		shot := f.Snapshot()
		assert.True(f, shot.Synced)
		assert.Equal(f, []int{1, 1, 1, 3}, []int{shot.Rounds, shot.Lists, shot.Watches, shot.Events})
	}},
	// kubernetes issues 87472 and 95897
	{"nothing is lost between list and watch", "", func(f *fixture) {
		f.config.Trace = &reflector.Trace{Listed: func(reflector.ListInfo) {
			f.add("in-between")
			f.add("gone")
			f.source.Delete("gone")
		}}
		f.start()
		assert.Equal(f, map[string]string{"in-between": "2"}, f.store.State())
	}},
	{"a list in pages is at the version of its first page", "", func(f *fixture) {
		f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) {
			if opts.Continue == "" {
				return ListOf("100", "two", NamespaceAt("a", "50")), nil
			}
			return ListOf("105", "", NamespaceAt("b", "60")), nil
		})
		for range 110 {
			f.source.Touch()
		}
		f.start()
		assert.Equal(f, []string{"100"}, f.store.Replaced(), "the store is told the version of the first page")
		assert.Equal(f, []string{"100"}, f.asked("watch"), "a watch from the version of a later page misses what happened between the pages")
		assert.Equal(f, "100", f.LastSyncResourceVersion())
		assert.Equal(f, map[string]string{"a": "50", "b": "60"}, f.store.State())
	}},
	{"a page between the first and the last does not say the version of the list", "", func(f *fixture) {
		pages := map[string]*api.List[*api.Namespace]{
			"":      ListOf("100", "two", NamespaceAt("a", "50")),
			"two":   ListOf("105", "three", NamespaceAt("b", "60")),
			"three": ListOf("107", "", NamespaceAt("c", "70")),
		}
		f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) { return pages[opts.Continue], nil })
		for range 110 {
			f.source.Touch()
		}
		f.start()
		assert.Equal(f, []string{"100"}, f.store.Replaced(), "the store is told the version of the first page")
		assert.Equal(f, []string{"100"}, f.asked("watch"), "the watch begins at the version of the first page")
	}},
	{"the pages of a list that failed are forgotten", "", func(f *fixture) {
		answers := []*api.List[*api.Namespace]{
			ListOf("100", "two", NamespaceAt("a", "50")),
			nil, // the second page fails
			ListOf("105", "two", NamespaceAt("b", "60")),
			ListOf("105", "", NamespaceAt("c", "70")),
		}
		f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) {
			page := answers[0]
			answers = answers[1:]
			if page == nil {
				return nil, informertest.StatusError(500, api.ReasonInternalError, "oops")
			}
			return page, nil
		})
		for range 110 {
			f.source.Touch()
		}
		f.start()
		f.pass(someTime)
		assert.Equal(f, map[string]string{"b": "60", "c": "70"}, f.store.State(), "a page of the list that failed is in the store")
	}},
	{"pages are asked for with the token and without a version", "", func(f *fixture) {
		f.config.PageSize = 2
		f.source.SetPaging(true)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			f.add(name)
		}
		var pages []reflector.PageInfo
		var lists []reflector.ListInfo
		f.config.Trace = &reflector.Trace{
			PageListed: func(p reflector.PageInfo) { pages = append(pages, p) },
			Listed:     func(l reflector.ListInfo) { lists = append(lists, l) },
		}
		f.start()
		assert.Len(f, f.store.State(), 5)
		assert.Equal(f, []string{"0", "", ""}, f.asked("list"))
		assert.Equal(f, []reflector.PageInfo{{ResourceVersion: "6", Page: 1, Items: 2, More: true},
			{ResourceVersion: "6", Page: 2, Items: 2, More: true}, {ResourceVersion: "6", Page: 3, Items: 1}}, pages)
		assert.Equal(f, []reflector.ListInfo{{ResourceVersion: "6", Items: 5, Pages: 3}}, lists)
		for i, r := range f.requests("list") {
			assert.EqualValues(f, 2, r.Options.Limit)
			assert.Equal(f, i > 0, r.Options.Continue != "")
		}
	}},
	{"if the token of a page has expired everything is listed at once", "", func(f *fixture) {
		f.config.PageSize = 1
		f.source.SetPaging(true)
		f.add("a")
		f.add("b")
		f.source.FailList(nil, informertest.Expired("the token is too old"))
		items := 0
		f.config.Trace = &reflector.Trace{Listed: func(l reflector.ListInfo) { items = l.Items }}
		f.start()
		assert.Equal(f, 2, items, "what came before is listed twice")
		assert.Equal(f, map[string]string{"a": "2", "b": "3"}, f.store.State(), "nothing of the first attempt is left twice or missing")
		assert.Equal(f, []string{"0", "", "0"}, f.asked("list"), "at the version that was asked for first")
		assert.Zero(f, f.requests("list")[2].Options.Limit)
		assert.Empty(f, f.errors)
	}},
	{"the page size depends on the version", "", func(f *fixture) {
		f.add("a")
		f.start()
		assert.EqualValues(f, reflector.DefaultPageSize, f.requests("list")[0].Options.Limit)
		f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops")) // which does not refuse the position
		f.pass(someTime)
		f.source.SendError(informertest.Expired("too old"))
		f.pass(someTime)
		require.Equal(f, []string{"0", "2", ""}, f.asked("list"))
		assert.Zero(f, f.requests("list")[1].Options.Limit, "a list at a known version comes from the server's cache as a whole")
		assert.EqualValues(f, reflector.DefaultPageSize, f.requests("list")[2].Options.Limit, "a consistent read comes in pages")
	}},
	{"a list that no watch can follow is a failure", "", func(f *fixture) {
		f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) { return ListOf("", ""), nil })
		f.start()
		require.Len(f, f.errors, 1)
		assert.ErrorIs(f, f.errors[0], reflector.ErrNoResourceVersion)
		var list *reflector.ListError
		assert.ErrorAs(f, f.errors[0], &list)
		assert.Empty(f, f.store.Replaced())
	}},
	{"a list whose pages never end is a failure", "", func(f *fixture) {
		lists := 0
		f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) {
			if lists++; lists > 100 {
				return nil, errors.New("enough is known")
			}
			return ListOf("5", "again"), nil
		})
		f.start()
		require.Len(f, f.errors, 1)
		assert.ErrorIs(f, f.errors[0], reflector.ErrRepeatedContinue)
		assert.LessOrEqual(f, lists, 4)
		assert.Empty(f, f.store.Replaced())
	}},
	{"a refused list is repeated at once as a consistent read", "", func(f *fixture) {
		for _, refusal := range []error{informertest.Expired("too old"), informertest.TooLargeResourceVersion(9, 1)} {
			f.source.FailList(refusal)
		}
		f.start() // "0" is refused, and then "" as well: that is a failure
		require.Equal(f, []string{"0", ""}, f.asked("list"))
		require.Len(f, f.errors, 1)
		f.pass(someTime)
		assert.Equal(f, []string{"0", "", ""}, f.asked("list"), "a version that was refused is not asked for again")
		assert.Equal(f, []string{"1"}, f.store.Replaced())
	}},
	{"items do not keep their pages alive", "", func(f *fixture) { // kubernetes issue 113305
		var pages []weak.Pointer[*api.Namespace]
		f.config.PageSize = 2
		f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) {
			token := map[string]string{"": "two", "two": "three"}[opts.Continue]
			list := ListOf("9", token, informertest.Namespace("a"+token), informertest.Namespace("b"+token))
			pages = append(pages, weak.Make(&list.Items[0]))
			return list, nil
		})
		f.source.FailWatch(informertest.TooManyRequests(0))
		f.start()
		require.Len(f, pages, 3)
		require.Len(f, f.store.State(), 6)
		runtime.GC()
		for i := range pages {
			assert.Nil(f, pages[i].Value(), "page %d is kept", i+1)
		}
	}},
	{"a list that is not answered is given up", ListTimeouts, func(f *fixture) {
		release := f.source.Hold()
		f.start()
		f.pass(reflector.DefaultListTimeout)
		require.Len(f, f.errors, 1)
		assert.ErrorIs(f, f.errors[0], reflector.ErrListTimeout)
		release()
		f.pass(someTime)
		assert.True(f, f.Snapshot().Synced)
	}},
	{"the initial state comes as a stream", StreamingLists, func(f *fixture) {
		f.config.DisableWatchList = false
		f.add("a")
		f.add("b")
		f.start()
		assert.Equal(f, map[string]string{"a": "2", "b": "3"}, f.store.State())
		assert.Equal(f, []string{"3"}, f.store.Replaced(), "at once, when its end is marked")
		assert.Empty(f, f.requests("list"))
		f.add("c")
		f.pass(0)
		assert.Len(f, f.store.State(), 3)
		assert.Len(f, f.requests("watch"), 1, "the same stream goes on as the watch")
	}},
	{"without streaming lists the state is listed", "", func(f *fixture) {
		f.config.DisableWatchList = false
		f.source.SetStreamingList(informertest.StreamingRefused)
		f.add("a")
		f.start()
		assert.Len(f, f.requests("list"), 1)
		assert.False(f, f.Snapshot().StreamingList)
		assert.Equal(f, map[string]string{"a": "2"}, f.store.State())
	}},
}

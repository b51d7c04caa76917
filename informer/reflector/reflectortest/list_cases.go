package reflectortest

import (
	"errors"
	"runtime"
	"strconv"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// wantSynced is what setSynced does and setPosition does not.
const wantSynced = "the reflector is synced once the store has its first list"

// listCases are those in which no watch is answered.
var listCases = []suiteCase{
	{"a list in pages is at the version of its first page", func(f *fixture) {
		f.pages(map[string]*api.List[*api.Namespace]{
			"":      ListOf("100", "two", NamespaceAt("a", "50")),
			"two":   ListOf("105", "three", NamespaceAt("b", "60")),
			"three": ListOf("107", "", NamespaceAt("c", "70")),
		})
		for range 110 {
			f.source.AdvanceVersion()
		}
		f.start()
		assert.Equal(f, []string{"100"}, f.store.Replaced, "the store gets the version of the first page")
		assert.Equal(f, []string{"100"}, f.asked("watch"),
			"a watch from the version of a later page misses the changes between the pages")
		assert.Equal(f, "100", f.LastSyncResourceVersion(), "the position is the version of the list")
		assert.True(f, f.Snapshot().Synced, wantSynced)
		assert.Equal(f, map[string]string{"a": "50", "b": "60", "c": "70"}, f.store.State())
	}},
	{"the pages of a failed list are dropped", func(f *fixture) {
		answers := []*api.List[*api.Namespace]{
			ListOf("100", "two", NamespaceAt("a", "50")),
			nil, // the second page fails
			ListOf("105", "two", NamespaceAt("b", "60")),
			ListOf("105", "", NamespaceAt("c", "70")),
		}
		f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) {
			page := answers[0]
			if len(answers) > 1 {
				answers = answers[1:]
			}
			if page == nil {
				return nil, informertest.StatusError(500, api.ReasonInternalError, "oops")
			}
			return page, nil
		})
		for range 110 {
			f.source.AdvanceVersion()
		}
		f.start()
		f.pass(someTime)
		assert.Equal(f, map[string]string{"b": "60", "c": "70"}, f.store.State(),
			"a page of the failed list is in the store")
	}},
	{"pages are requested with the token and without a version", func(f *fixture) {
		f.config.PageSize = 2
		f.source.Change(func(b *informertest.Behaviour) { b.PageAlways = true })
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			f.add(name)
		}
		var pages []reflector.PageInfo
		var lists []reflector.ListInfo
		f.config.Trace = &reflector.Trace{
			PageListed: func(p reflector.PageInfo) { pages = append(pages, p) },
			Listed:     func(l reflector.ListInfo) { lists = append(lists, l) },
		}
		f.source.Change(func(b *informertest.Behaviour) { b.Latency = time.Second })
		f.start()
		f.pass(3 * time.Second)
		assert.Len(f, f.store.State(), 5)
		assert.Equal(f, []string{"0", "", ""}, f.asked("list"))
		assert.Equal(f, []reflector.PageInfo{{ResourceVersion: "6", Page: 1, Items: 2, More: true},
			{ResourceVersion: "6", Page: 2, Items: 2, More: true}, {ResourceVersion: "6", Page: 3, Items: 1}}, pages)
		assert.Equal(f, []reflector.ListInfo{{ResourceVersion: "6", Items: 5, Pages: 3, Duration: 3 * time.Second}},
			lists, "Trace.Listed reports the whole list")
		for i, r := range f.requests("list") {
			assert.EqualValues(f, 2, r.Options.Limit)
			assert.Equal(f, i > 0, r.Options.Continue != "")
		}
	}},
	{"if the token of a page has expired, everything is listed at once", func(f *fixture) {
		f.config.PageSize = 1
		f.source.Change(func(b *informertest.Behaviour) { b.PageAlways = true })
		f.add("a")
		f.add("b")
		f.source.FailList(nil, informertest.Expired("the token is too old"))
		items := 0
		f.config.Trace = &reflector.Trace{Listed: func(l reflector.ListInfo) { items = l.Items }}
		f.start()
		assert.Equal(f, 2, items, "the first items are listed twice")
		assert.Equal(f, map[string]string{"a": "2", "b": "3"}, f.store.State(), "no object is missing or duplicated")
		require.Equal(f, []string{"0", "", "0"}, f.asked("list"), "the third list is at the first version")
		assert.Zero(f, f.requests("list")[2].Options.Limit)
		assert.Empty(f, f.errors)
	}},
	{"a list that is repeated because a token has expired has its own version", func(f *fixture) {
		f.config.PageSize = 1
		f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) {
			switch {
			case opts.Continue != "":
				return nil, informertest.Expired("the token is too old")
			case opts.Limit == 0:
				return ListOf("7", "", NamespaceAt("a", "7"), NamespaceAt("b", "6")), nil
			}
			return ListOf("5", "b", NamespaceAt("a", "5")), nil
		})
		var listed reflector.ListInfo
		f.config.Trace = &reflector.Trace{Listed: func(l reflector.ListInfo) { listed = l }}
		f.start()
		assert.Equal(f, []string{"7"}, f.store.Replaced,
			"want the store at the version of the list that it got, not of the page before")
		assert.Equal(f, "7", listed.ResourceVersion,
			"want Trace.Listed to report the version of the list that the store got")
		assert.Equal(f, 1, listed.Pages, "want Trace.Listed to report one page, the whole list")
	}},
	{"a list without a resource version is complete, and the watch asks for the present state", func(f *fixture) {
		f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) {
			return ListOf("", "", NamespaceAt("a", "")), nil
		})
		f.start()
		assert.Equal(f, []string{""}, f.store.Replaced, "an aggregated server may have no version for its lists")
		assert.Contains(f, f.store.State(), "a")
		assert.True(f, f.Snapshot().Synced, wantSynced)
		assert.Equal(f, []string{""}, f.asked("watch"), "there is no version to watch from")
		assert.Empty(f, f.errors)
	}},
	{"the pages of a list without a resource version are one list", func(f *fixture) {
		f.pages(map[string]*api.List[*api.Namespace]{
			"":    ListOf("", "two", NamespaceAt("a", "")),
			"two": ListOf("", "", NamespaceAt("b", "")),
		})
		f.start()
		assert.Equal(f, []string{""}, f.store.Replaced)
		assert.Len(f, f.store.State(), 2)
	}},
	{"a list whose pages never end is a failure", func(f *fixture) {
		f.config.MaxItems = 1000
		items := []*api.Namespace{NamespaceAt("a", "1"), NamespaceAt("b", "1")}
		for name, c := range map[string]struct {
			page func(number int, token string) *api.List[*api.Namespace]
			want error
		}{
			"one token again and again": {func(int, string) *api.List[*api.Namespace] {
				return ListOf("5", "again")
			}, reflector.ErrRepeatedContinue},
			"two tokens in turn": {func(_ int, token string) *api.List[*api.Namespace] {
				return ListOf("5", map[string]string{"": "one", "one": "two", "two": "one"}[token], items...)
			}, reflector.ErrRepeatedContinue},
			"a circle of seven tokens": {func(number int, _ string) *api.List[*api.Namespace] {
				return ListOf("5", strconv.Itoa(number%7), items...)
			}, reflector.ErrRepeatedContinue},
			"new tokens without items": {func(number int, _ string) *api.List[*api.Namespace] {
				return ListOf("5", strconv.Itoa(number))
			}, reflector.ErrListTooLong},
			"new tokens with items": {func(number int, _ string) *api.List[*api.Namespace] {
				return ListOf("5", strconv.Itoa(number), items...)
			}, reflector.ErrListTooLong},
		} {
			lists := 0
			f.errors = nil
			f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) {
				if lists++; lists > 900 {
					return nil, errors.New("enough is known")
				}
				return c.page(lists, opts.Continue), nil
			})
			stop := f.start()
			require.Len(f, f.errors, 1, "%s: want one failure, got %d after %d lists", name, len(f.errors), lists)
			assert.ErrorIs(f, f.errors[0], c.want, name)
			assert.ErrorContains(f, f.errors[0], "namespaces", "%s: want the error to name the type", name)
			assert.Empty(f, f.store.Replaced, name)
			stop()
		}
	}},
	{"a list has a largest number of items", func(f *fixture) {
		f.config.MaxItems = 4
		two := []*api.Namespace{NamespaceAt("a", "1"), NamespaceAt("b", "2")}
		three := []*api.Namespace{NamespaceAt("c", "3"), NamespaceAt("d", "4"), NamespaceAt("e", "5")}
		for name, c := range map[string]struct {
			first, second []*api.Namespace
			tooLong       bool
		}{
			"as many as allowed, in two pages": {two, two, false},
			"one more, in the last page":       {two, three, true},
			"more in one page":                 {append(two, three...), nil, true},
		} {
			f.errors = nil
			first, second := ListOf("9", "", c.first...), ListOf("9", "", c.second...)
			if c.second != nil {
				first.Continue = "two"
			}
			f.pages(map[string]*api.List[*api.Namespace]{"": first, "two": second})
			replaced := len(f.store.Replaced)
			stop := f.start()
			if c.tooLong {
				require.Len(f, f.errors, 1, name)
				assert.ErrorIs(f, f.errors[0], reflector.ErrListTooLong, name)
				assert.Len(f, f.store.Replaced, replaced, "%s: a refused list does not reach the store", name)
			} else {
				assert.Empty(f, f.errors, name)
				assert.Len(f, f.store.Replaced, replaced+1, name)
			}
			stop()
		}
	}},
	{"a list in pages although nobody asked for them, whose tokens expire, is a failure", func(f *fixture) {
		lists := 0
		f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) {
			if lists++; lists > 900 {
				return nil, errors.New("enough is known")
			}
			if opts.Continue != "" {
				return nil, informertest.Expired("the token is too old")
			}
			return ListOf("5", "two", NamespaceAt("a", "1")), nil
		})
		f.start()
		require.Len(f, f.errors, 1)
		assert.Equal(f, reflector.CauseExpired, reflector.CauseOf(f.errors[0]))
		assert.LessOrEqual(f, lists, 8, "want a back-off once the list without pages came in pages, too")
	}},
	{"a refused list is repeated at once as a consistent read", func(f *fixture) {
		var refused []string
		f.config.Trace = &reflector.Trace{Expired: func(rv string, _ error) { refused = append(refused, rv) }}
		for _, refusal := range []error{informertest.Expired("too old"), informertest.TooLargeResourceVersion(9, 1)} {
			f.source.FailList(refusal)
		}
		f.start() // "0" is refused, and then "" as well: that is a failure
		require.Equal(f, []string{"0", ""}, f.asked("list"), `the refused list is repeated at once, at ""`)
		assert.Equal(f, []string{"0"}, refused, "Trace.Expired reports the refused version")
		require.Len(f, f.errors, 1)
		var list *reflector.ListError
		require.ErrorAs(f, f.errors[0], &list)
		assert.Empty(f, list.ResourceVersion, "the error names the version of the list that failed")
		f.pass(someTime)
		assert.Equal(f, []string{"0", "", ""}, f.asked("list"), "a refused version is not requested again")
		assert.Equal(f, []string{"1"}, f.store.Replaced)
	}},
	{"a reflector that runs again lists at its last version", func(f *fixture) {
		f.add("a")
		f.add("b")
		f.start()()
		f.source.FailList(informertest.Expired("too old"))
		f.again()
		assert.Equal(f, []string{"0", "3", ""}, f.asked("list"),
			"the store must not go back in time; a refused version leads to a consistent read")
		assert.Equal(f, []string{"3", "3"}, f.store.Replaced)
		assert.Equal(f, "3", f.LastSyncResourceVersion())
	}},
	{"a failed Replace leads to another list", func(f *fixture) {
		f.failNext("Replace")
		listed := 0
		f.config.Trace = &reflector.Trace{Listed: func(reflector.ListInfo) { listed++ }}
		f.add("a")
		f.start()
		assert.Zero(f, listed, "Trace.Listed reports only a list that the store has")
		assert.False(f, f.Snapshot().Synced, "the store does not have the list")
		assert.Empty(f, f.LastSyncResourceVersion(),
			"the position moves when the state is in the store, and not before")
		require.Len(f, f.errors, 1, "want the error of the store reported once")
		var failed *reflector.StoreError
		require.ErrorAs(f, f.errors[0], &failed)
		assert.Equal(f, reflector.OpReplace, failed.Op)
		f.pass(someTime)
		assert.Equal(f, map[string]string{"a": "2"}, f.store.State())
		assert.Equal(f, 1, f.Snapshot().StoreErrors)
	}},
	{"items do not keep their pages in memory", func(f *fixture) { // kubernetes issue 113305
		var pages []weak.Pointer[*api.Namespace]
		f.config.PageSize = 2
		f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) {
			token := map[string]string{"": "two", "two": "three"}[opts.Continue]
			list := ListOf("9", token, informertest.Namespace("a"+token), informertest.Namespace("b"+token))
			pages = append(pages, weak.Make(&list.Items[0]))
			return list, nil
		})
		f.start()
		require.Len(f, pages, 3)
		require.Len(f, f.store.State(), 6)
		runtime.GC()
		for i := range pages {
			assert.Nil(f, pages[i].Value(), "page %d is kept", i+1)
		}
	}},
}

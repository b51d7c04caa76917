package registry_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func (w *world) list(t registry.Target, o api.ListOptions) *registry.Page {
	w.t.Helper()
	page, err := w.List(t, o)
	require.NoError(w.t, err)
	return page
}

func (w *world) makeSome(count int) {
	for i := range count {
		w.make(w.cm(""), fmt.Sprintf(`{"metadata":{"name":"c%d","labels":{"parity":"%d"}}}`, i, i%2))
	}
}

func TestListSelects(t *testing.T) {
	w := newWorld(t)
	w.makeSome(4)
	w.make(w.at("configmaps", "kube-system", ""), `{"metadata":{"name":"other","labels":{"parity":"0"}}}`)
	for name, c := range map[string]struct {
		namespace string
		options   api.ListOptions
		want      []string
	}{
		"a namespace":          {"default", api.ListOptions{}, []string{"c0", "c1", "c2", "c3"}},
		"all namespaces":       {"", api.ListOptions{}, []string{"c0", "c1", "c2", "c3", "other"}},
		"labels":               {"", api.ListOptions{LabelSelector: "parity=0"}, []string{"c0", "c2", "other"}},
		"a name":               {"", api.ListOptions{FieldSelector: "metadata.name=c1"}, []string{"c1"}},
		"not a namespace":      {"", api.ListOptions{FieldSelector: "metadata.namespace!=default"}, []string{"other"}},
		"both":                 {"default", api.ListOptions{LabelSelector: "parity=1", FieldSelector: "metadata.name!=c1"}, []string{"c3"}},
		"nothing":              {"kube-public", api.ListOptions{}, []string{}},
		"an unknown namespace": {"nope", api.ListOptions{}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			page := w.list(w.at("configmaps", c.namespace, ""), c.options)
			assert.Equal(t, c.want, namesOf(page))
			assert.Equal(t, w.store.Version(), page.Version)
			assert.Empty(t, page.Continue)
			assert.Nil(t, page.Remaining)
		})
	}
	page := w.list(w.ns(""), api.ListOptions{FieldSelector: "status.phase=Active,metadata.name=default"})
	assert.Equal(t, []string{"default"}, namesOf(page), "type-specific field selectors")
}

// The answers are those of kube-apiserver 1.36.
func TestListRefuses(t *testing.T) {
	w := newWorld(t)
	w.makeSome(2)
	w.store.Compact()
	current := w.store.Version()
	token := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	const badOptions = `ListOptions.meta.k8s.io "" is invalid: `
	for name, c := range map[string]struct {
		options api.ListOptions
		code    int
		message string
	}{
		"a compacted version":           {api.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "Exact"}, 410, "The resourceVersion for the provided list is too old."},
		"a page of a compacted version": {api.ListOptions{ResourceVersion: "1", Limit: 1}, 410, "The resourceVersion for the provided list is too old."},
		"a future version":              {api.ListOptions{ResourceVersion: "99999"}, 504, fmt.Sprintf("Timeout: Too large resource version: 99999, current: %d", current)},
		"an unknown field and an unknown match": {
			api.ListOptions{FieldSelector: "foo=bar", ResourceVersionMatch: "Foo"}, 422, badOptions + `[resourceVersionMatch: Forbidden: resourceVersionMatch is ` +
				`forbidden unless resourceVersion is provided, resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""]`,
		},
		"an invalid field selector and an unknown match": {
			api.ListOptions{FieldSelector: "foo", ResourceVersionMatch: "Foo"}, 400, `invalid selector: 'foo'; can't understand 'foo'`,
		},
		"a token with invalid characters": {api.ListOptions{Continue: "***"}, 400, `invalid continue token: continue key is not valid: illegal base64 data at input byte 0`},
		"a token of another format":       {api.ListOptions{Continue: token(`{"v":"meta.k8s.io/v2","rv":1,"start":"/a\u0000"}`)}, 400, `invalid continue token: continue key is not valid: server does not recognize this encoded version meta.k8s.io/v2`},
		"a token without a version":       {api.ListOptions{Continue: token(`{"v":"meta.k8s.io/v1","rv":0,"start":"/a\u0000"}`)}, 400, `invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)`},
		"a token without a key":           {api.ListOptions{Continue: token(`{"v":"meta.k8s.io/v1","rv":1,"start":""}`)}, 400, `invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)`},
		"a token with ..":                 {api.ListOptions{Continue: token(`{"v":"meta.k8s.io/v1","rv":1,"start":"/../a"}`)}, 400, `invalid continue token: continue key is not valid: /../a`},
		"a token of a future version":     {api.ListOptions{Continue: token(`{"v":"meta.k8s.io/v1","rv":99999,"start":"/a\u0000"}`)}, 504, fmt.Sprintf("Timeout: Too large resource version: 99999, current: %d", current)},
		"a negative version":              {api.ListOptions{ResourceVersion: "-1"}, 400, `invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.List(w.cm(""), c.options)
			status := refused(t, err, c.code, c.message)
			if c.code == 504 {
				assert.True(t, api.IsTooLargeResourceVersion(status))
				assert.Equal(t, "1s", api.RetryAfterOf(status).String())
			}
		})
	}
	_, err := w.List(w.at("pods", "default", ""), api.ListOptions{FieldSelector: "foo=bar"})
	refused(t, err, 400, "field label not supported: foo")
}

func TestPagesShowOneVersion(t *testing.T) {
	w := newWorld(t)
	w.makeSome(5)
	first := w.list(w.cm(""), api.ListOptions{Limit: 2})
	assert.Equal(t, []string{"c0", "c1"}, namesOf(first))
	assert.Equal(t, int64(3), *first.Remaining)

	w.delete(w.cm("c2"), api.DeleteOptions{})
	w.make(w.cm(""), `{"metadata":{"name":"c11"}}`)
	_, err := w.patch(w.cm("c3"), `{"data":{"k":"v"}}`)
	require.NoError(t, err)

	second := w.list(w.cm(""), api.ListOptions{Limit: 2, Continue: first.Continue})
	assert.Equal(t, []string{"c2", "c3"}, namesOf(second))
	assert.Equal(t, first.Version, second.Version)
	assert.Equal(t, int64(1), *second.Remaining)
	assert.Nil(t, second.Items[1].Decode().Nested("data"), "as of the version of the list")

	last := w.list(w.cm(""), api.ListOptions{Limit: 2, Continue: second.Continue, ResourceVersion: "0"})
	assert.Equal(t, []string{"c4"}, namesOf(last))
	assert.Empty(t, last.Continue)
	assert.Nil(t, last.Remaining)

	exact := w.list(w.cm(""), api.ListOptions{ResourceVersion: fmt.Sprint(first.Version), ResourceVersionMatch: api.MatchExact})
	assert.Equal(t, []string{"c0", "c1", "c2", "c3", "c4"}, namesOf(exact))
	legacy := w.list(w.cm(""), api.ListOptions{ResourceVersion: fmt.Sprint(first.Version), Limit: 3})
	assert.Equal(t, []string{"c0", "c1", "c2"}, namesOf(legacy))
	newer := w.list(w.cm(""), api.ListOptions{ResourceVersion: fmt.Sprint(first.Version), ResourceVersionMatch: api.MatchNotOlderThan})
	assert.Equal(t, []string{"c0", "c1", "c11", "c3", "c4"}, namesOf(newer))
	assert.Equal(t, w.store.Version(), newer.Version)
}

func TestPagesOfASelection(t *testing.T) {
	w := newWorld(t)
	w.makeSome(6)
	w.make(w.at("configmaps", "kube-system", ""), `{"metadata":{"name":"a","labels":{"parity":"0"}}}`)
	options := api.ListOptions{LabelSelector: "parity=0", Limit: 2}
	var names []string
	pages := 0
	for {
		page := w.list(w.at("configmaps", "", ""), options)
		assert.Nil(t, page.Remaining, "not counted")
		names = append(names, namesOf(page)...)
		pages++
		if page.Continue == "" {
			break
		}
		options.Continue = page.Continue
	}
	assert.Equal(t, []string{"c0", "c2", "c4", "a"}, names)
	assert.Equal(t, 2, pages)
}

// After the history was compacted the client may start again or read the rest in its latest state.
func TestExpiredContinueTokens(t *testing.T) {
	w := newWorld(t)
	w.makeSome(4)
	first := w.list(w.cm(""), api.ListOptions{Limit: 2})
	w.delete(w.cm("c2"), api.DeleteOptions{})
	w.store.Compact()
	_, err := w.List(w.cm(""), api.ListOptions{Limit: 2, Continue: first.Continue})
	status := refused(t, err, 410, "The provided continue parameter is too old to display a consistent list result. You can start a new list without "+
		"the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided "+
		"token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned "+
		"and now may show up in the list.")
	assert.True(t, api.IsExpired(status))
	rest := w.list(w.cm(""), api.ListOptions{Limit: 2, Continue: status.Status.Continue})
	assert.Equal(t, []string{"c3"}, namesOf(rest))
	assert.Equal(t, w.store.Version(), rest.Version)
}

// A replica whose watch cache lags answers what it has; a client that has seen more must retry.
func TestAReplicaThatLags(t *testing.T) {
	lag := uint64(0)
	w := newWorld(t, func(c *registry.Config) { c.Lag = func() uint64 { return lag } })
	w.makeSome(4)
	last := w.store.Version()
	lag = 2
	assert.Equal(t, []string{"c0", "c1"}, namesOf(w.list(w.cm(""), api.ListOptions{ResourceVersion: "0"})))
	assert.Len(t, w.list(w.cm(""), api.ListOptions{}).Items, 4, "a read of the latest version does not lag")
	_, err := w.Get(w.cm("c3"), api.GetOptions{ResourceVersion: "0"})
	assert.True(t, api.IsNotFound(err), "%v", err)
	_, err = w.Get(w.cm("c3"), api.GetOptions{ResourceVersion: fmt.Sprint(last)})
	refused(t, err, 504, fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", last, last-2))
	_, err = w.List(w.cm(""), api.ListOptions{ResourceVersion: fmt.Sprint(last)})
	assert.True(t, api.IsTooLargeResourceVersion(err), "%v", err)
	lag = 1000
	assert.Empty(t, w.list(w.cm(""), api.ListOptions{ResourceVersion: "0"}).Items)
	w.store.Compact()
	assert.Len(t, w.list(w.cm(""), api.ListOptions{ResourceVersion: "0"}).Items, 4, "compacted history cannot be shown")
}

func TestGet(t *testing.T) {
	w := newWorld(t)
	w.makeSome(1)
	for _, version := range []string{"", "0", "1"} {
		o, err := w.Get(w.cm("c0"), api.GetOptions{ResourceVersion: version})
		require.NoError(t, err)
		assert.Equal(t, "c0", o.Key.Name)
		_, err = w.Get(w.cm("nope"), api.GetOptions{ResourceVersion: version})
		refused(t, err, 404, `configmaps "nope" not found`)
	}
	_, err := w.Get(w.cm("c0"), api.GetOptions{ResourceVersion: "999999"})
	refused(t, err, 504, fmt.Sprintf("Timeout: Too large resource version: 999999, current: %d", w.store.Version()))
	_, err = w.Get(w.cm("c0"), api.GetOptions{ResourceVersion: "abc"})
	status := refused(t, err, 500, `resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`)
	assert.Empty(t, status.Status.Reason)
}

package resources

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/store"
)

func TestTableCarriesObjects(t *testing.T) {
	d := lookup(t, "events.k8s.io", "events")
	object := stored(t, d, parse(t, `{"metadata":{"name":"e","namespace":"n"},"note":"hello","regarding":{"kind":"Pod"},"reportingController":""}`))
	row := func(options TableOptions) tree { return items(tableOf(t, d, object, options).Object, "rows")[0] }

	full := child(row(TableOptions{Include: IncludeObject}), "object")
	assert.Equal(t, "events.k8s.io/v1", full["apiVersion"])
	assert.Equal(t, "hello", full["note"], "in the version of its group")
	assert.NotContains(t, full, "message")
	assert.NotContains(t, full, "reportingController")

	head := child(row(TableOptions{APIVersion: "meta.k8s.io/v1beta1"}), "object")
	assert.Equal(t, "PartialObjectMetadata", head["kind"])
	assert.Equal(t, "meta.k8s.io/v1beta1", head["apiVersion"])
	assert.Equal(t, "e", text(child(head, "metadata"), "name"))
	assert.Nil(t, row(TableOptions{Include: IncludeNone})["object"])

	maps := lookup(t, "", "configmaps")
	cm := stored(t, maps, parse(t, `{"metadata":{"name":"c"},"data":{"a":"b"}}`))
	full = child(items(tableOf(t, maps, cm, TableOptions{Include: IncludeObject}).Object, "rows")[0], "object")
	assert.Equal(t, "ConfigMap", full["kind"])
	assert.Equal(t, tree{"a": "b"}, full["data"])
}

func TestTableOfNothing(t *testing.T) {
	five := int64(5)
	plain := &Definition{Kind: "X", Version: "v1"}
	data := Table(nil, plain, func(func(*store.Object) bool) {}, TableOptions{ResourceVersion: "7", Continue: "next", Remaining: &five})
	table := parse(t, string(data))
	assert.Equal(t, tree{"resourceVersion": "7", "continue": "next", "remainingItemCount": int64(5)}, table.Nested("metadata"))
	assert.Equal(t, []any{}, table.Nested("rows"))
	assert.Len(t, table.Nested("columnDefinitions"), 2, "name and age by default")
	table = parse(t, string(Table(nil, plain, func(func(*store.Object) bool) {}, TableOptions{NoHeaders: true})))
	assert.Nil(t, table.Nested("columnDefinitions"))
	assert.Equal(t, "null", string(appendJSON(nil, func() {})), "values that cannot be encoded become null")
}

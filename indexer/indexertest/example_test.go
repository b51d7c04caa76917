package indexertest_test

import (
	"fmt"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/indexer/indexertest"
)

// Both forms have the same methods.
func ExampleIndexer() {
	config := indexer.Config[*indexertest.Object]{
		KeyFunc:  indexertest.KeyFunc,
		Indexers: indexer.Indexers[*indexertest.Object]{"node": indexertest.ByNode},
	}
	for _, store := range []indexertest.Indexer{indexer.New(config), fast.New(config)} {
		_ = store.Add(&indexertest.Object{Namespace: "default", Name: "web", Node: "n1"})
		_ = store.Add(&indexertest.Object{Namespace: "default", Name: "db", Node: "n1"})
		_ = store.Update(&indexertest.Object{Namespace: "default", Name: "db", Node: "n2"})
		keys, _ := store.IndexKeys("node", "n1")
		fmt.Println(keys)
	}
	// Output:
	// [default/web]
	// [default/web]
}

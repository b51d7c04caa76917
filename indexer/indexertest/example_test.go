package indexertest_test

import (
	"fmt"

	"orrery/indexer"
	"orrery/indexer/indexertest"
)

// The plain store has the methods of the real one, so either may be used where
// an Indexer is wanted.
func ExampleNewReference() {
	config := indexer.Config[*indexertest.Object]{
		KeyFunc:  indexertest.KeyFunc,
		Indexers: indexer.Indexers[*indexertest.Object]{"node": indexertest.ByNode},
	}
	for _, store := range []indexertest.Indexer{indexertest.NewReference(config), indexer.New(config)} {
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

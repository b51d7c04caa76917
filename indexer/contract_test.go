package indexer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/indexer"
	"orrery/indexer/indexertest"
)

// TestContract runs the common suite against the textbook form.
func TestContract(t *testing.T) {
	indexertest.Run(t, indexertest.Implementation{
		Name: "textbook",
		New:  func(c indexer.Config[*indexertest.Object]) indexertest.Indexer { return indexer.New(c) },
		Lacks: map[indexertest.Capability]string{
			indexertest.ReadersDoNotWait: "the textbook form has one read-write lock; package fast does without",
		},
	})
}

func TestNewWithoutKeyFunc(t *testing.T) {
	assert.PanicsWithValue(t, "indexer.New: Config.KeyFunc is required", func() {
		indexer.New(indexer.Config[*indexertest.Object]{})
	})
}

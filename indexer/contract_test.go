package indexer_test

import (
	"testing"

	"orrery/indexer"
	"orrery/indexer/indexertest"
)

// The store is one, without an adapter.
var _ indexertest.Indexer = (*indexer.Indexer[*indexertest.Object])(nil)

// TestContract runs the common suite against this package.
func TestContract(t *testing.T) {
	indexertest.Run(t, indexertest.Implementation{
		Name: "orrery/indexer",
		New: func(config indexer.Config[*indexertest.Object]) indexertest.Indexer {
			return indexer.New(config)
		},
	})
}

// TestContractOfReference runs it against the plain store, so that the
// property tests may trust it.
func TestContractOfReference(t *testing.T) {
	indexertest.Run(t, indexertest.Implementation{
		Name: "reference",
		New: func(config indexer.Config[*indexertest.Object]) indexertest.Indexer {
			return indexertest.NewReference(config)
		},
	})
}

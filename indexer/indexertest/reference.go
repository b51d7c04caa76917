package indexertest

import (
	"orrery/indexer"
	"orrery/indexer/naive"
)

// Reference is the store of package naive: what the fast one is compared with.
type Reference[T any] = naive.Store[T]

// NewReference returns an empty one.
func NewReference[T any](config indexer.Config[T]) *Reference[T] { return naive.New(config) }

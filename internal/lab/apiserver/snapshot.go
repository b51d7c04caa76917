package apiserver

import "orrery/internal/lab/apiserver/store"

// Snapshot is plain data about a [Server], for the debug endpoint and for tests.
type Snapshot struct {
	// Requests is how many requests have been answered, by verb and code.
	Requests map[string]map[int]int64 `json:"requests"`
	// InFlight is how many requests are being answered, without watches.
	InFlight int64 `json:"inFlight"`
	// Watches is how many watches are open.
	Watches int64 `json:"watches"`
	// CutWatches is how many watches were ended because their client did not read.
	CutWatches int64 `json:"cutWatches"`
	// Panics is how many handlers have panicked.
	Panics int64 `json:"panics"`
	// Store is what is stored.
	Store store.Snapshot `json:"store"`
}

// Snapshot is what goes on in the server at the moment.
func (s *Server) Snapshot() Snapshot {
	return Snapshot{
		Requests: s.byVerb(),
		InFlight: s.inFlight.Load(), Watches: s.watches.Load(), CutWatches: s.cutWatches.Load(), Panics: s.panics.Load(),
		Store: s.store.Snapshot(),
	}
}

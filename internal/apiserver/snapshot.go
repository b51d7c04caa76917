package apiserver

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
}

package store

// Snapshot describes a store at one moment, in plain data.
type Snapshot struct {
	// Version is the version of the last write.
	Version uint64 `json:"version"`
	// Collections are in the order of their prefixes.
	Collections []CollectionSnapshot `json:"collections"`
}

// CollectionSnapshot describes a collection.
type CollectionSnapshot struct {
	Prefix string `json:"prefix"`
	// Objects is their number, Bytes about what they take of memory.
	Objects int `json:"objects"`
	Bytes   int `json:"bytes"`
	// WindowEvents is the number of events that are kept, WindowBytes about the memory that only they keep.
	WindowEvents int `json:"windowEvents"`
	WindowBytes  int `json:"windowBytes"`
	// Oldest is the oldest version that can be read or watched from.
	Oldest uint64 `json:"oldest"`
}

// Snapshot returns a description of the store.
func (s *Store) Snapshot() Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	snapshot := Snapshot{Version: s.version}
	for _, c := range s.collectionsLocked() {
		snapshot.Collections = append(snapshot.Collections, CollectionSnapshot{
			Prefix: c.prefix, Objects: c.objects.len(), Bytes: c.bytes,
			WindowEvents: int(c.window.next - c.window.first), WindowBytes: c.window.bytes, Oldest: c.window.oldest,
		})
	}
	return snapshot
}

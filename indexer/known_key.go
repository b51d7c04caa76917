package indexer

// KnownKey returns the string under which the store holds an object with this
// key, and whether it holds one. The bytes stay the caller's.
//
// It is for callers that put keys together from parts and would otherwise make
// a string for each event of an object that has been there for long. Any
// goroutine may call it; the key may be gone the moment after.
func (x *Indexer[T]) KnownKey(key []byte) (known string, ok bool) {
	rec := x.generation.Load().records.findBytes(key)
	if rec == nil {
		return "", false
	}
	return rec.key, true
}

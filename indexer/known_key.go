package indexer

import "hash/maphash"

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

// findBytes is find for a key that is not a string.
func (t *table[E]) findBytes(key []byte) *E {
	id := identity{hash: maphash.Bytes(t.seed, key)}
	copy(id.head[:], key)
	s := *t.slots.Load()
	mask := uint64(len(s) - 1)
	for i := id.hash & mask; ; i = (i + 1) & mask {
		e := s[i].Load()
		if e == nil {
			return nil
		}
		if t.id(e).isBytes(&id, key) && e != t.gone {
			return e
		}
	}
}

// isBytes is is for an identity without a key, which is given beside it.
func (id *identity) isBytes(other *identity, key []byte) bool {
	return id.hash == other.hash && id.head == other.head && len(id.key) == len(key) &&
		(len(key) <= keyHead || id.key[keyHead:] == string(key[keyHead:]))
}

package indexer

// identity is the part of an entry that a table needs. It never changes once
// the entry is in the table.
type identity struct {
	hash uint64
	key  string
	// head are the first bytes of the key, filled up with zeros. Comparing them
	// here spares a lookup the cache miss that following key would be.
	head [keyHead]byte
}

const keyHead = 40

func (id *identity) is(other *identity) bool {
	return id.hash == other.hash && id.head == other.head && len(id.key) == len(other.key) &&
		(len(id.key) <= keyHead || id.key[keyHead:] == other.key[keyHead:])
}

// isBytes is is for an identity without a key, which is given beside it.
func (id *identity) isBytes(other *identity, key []byte) bool {
	return id.hash == other.hash && id.head == other.head && len(id.key) == len(key) &&
		(len(key) <= keyHead || id.key[keyHead:] == string(key[keyHead:]))
}

package load

import "strings"

// Index returns the index of a key, so that a worker that was handed a key can find what it knows about it without a map;
// -1 if it is none of the keys. It costs some 20 ns.
func (k *Keys) Index(key string) int {
	name := strings.IndexByte(key, '/')
	hyphen := strings.LastIndexByte(key, '-')
	if name < 0 || hyphen < name || name < len(keyPrefix) {
		return -1
	}
	namespace, ok1 := number(key[len(keyPrefix):name])
	ordinal, ok2 := number(key[hyphen+1:])
	i := ordinal*k.namespaces() + namespace
	if !ok1 || !ok2 || i >= len(k.keys) || k.keys[i] != key {
		return -1
	}
	return i
}

const keyPrefix = "namespace-"

// namespaces is how many there are: key i is in namespace i%namespaces and the one with ordinal i/namespaces in it.
func (k *Keys) namespaces() int { return min(max(len(k.keys)/objectsInNamespace, 1), maxNamespaces) }

func number(digits string) (n int, ok bool) {
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	for i := range len(digits) {
		digit := digits[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = 10*n + int(digit)
	}
	return n, true
}

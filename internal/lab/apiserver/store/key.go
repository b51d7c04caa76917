package store

import "strings"

// Key names an object in its collection. Namespace is empty for objects of the whole cluster.
type Key struct {
	Namespace, Name string
}

// String returns namespace/name, or the name alone without a namespace: the end of the path in etcd.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// compare orders keys like the texts namespace/name, without making these texts.
func (k Key) compare(other Key) int {
	if k.Namespace == other.Namespace {
		return strings.Compare(k.Name, other.Name)
	}
	shared := min(len(k.Namespace), len(other.Namespace))
	if c := strings.Compare(k.Namespace[:shared], other.Namespace[:shared]); c != 0 {
		return c
	}
	// One namespace begins with the other one: what decides is the slash that follows the shorter.
	if len(k.Namespace) == shared {
		return int('/') - int(other.Namespace[shared])
	}
	return int(k.Namespace[shared]) - int('/')
}

package indexertest

import (
	"errors"
	"fmt"

	"orrery/indexer"
)

// Object is a minimal Kubernetes object.
type Object struct {
	Namespace, Name string
	Node            string   // for an index of one value
	Labels          []string // for an index of several
	Version         string
}

// Key returns "namespace/name", or "name" without a namespace. It accepts nil, so that a store that
// returns nil fails a comparison by key.
func (o *Object) Key() string {
	switch {
	case o == nil:
		return "(nil)"
	case o.Namespace == "":
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

func (o *Object) String() string {
	if o == nil {
		return "(nil)"
	}
	return fmt.Sprintf("%s@%s", o.Key(), o.Version)
}

// ErrNoName is the error of KeyFunc.
var ErrNoName = errors.New("the object has no name")

// KeyFunc is the key function of all stores in the suite.
func KeyFunc(o *Object) (string, error) {
	if o == nil || o.Name == "" {
		return "default/web", ErrNoName // a key that tests store: a store must not use it
	}
	return o.Key(), nil
}

// ByNamespace is an index function with exactly one value.
func ByNamespace(o *Object) ([]string, error) { return []string{o.Namespace}, nil }

// ByNode is an index function with one value or none.
func ByNode(o *Object) ([]string, error) {
	if o.Node == "" {
		return nil, nil
	}
	return []string{o.Node}, nil
}

// ByLabel is an index function with any number of values, possibly repeated.
func ByLabel(o *Object) ([]string, error) { return o.Labels, nil }

// Indexer is a store of Objects.
type Indexer = indexer.Interface[*Object]

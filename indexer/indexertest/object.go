package indexertest

import (
	"errors"
	"fmt"

	"orrery/indexer"
)

// Object is what the suite stores: just enough of a Kubernetes object.
type Object struct {
	Namespace, Name string
	Node            string   // for an index of one value
	Labels          []string // for an index of several
	Version         string
}

// Key is "namespace/name", or "name" without a namespace. A store that returns nil for an object
// fails a comparison by this key.
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

// ByNamespace is an index function that always answers with one value.
func ByNamespace(o *Object) ([]string, error) { return []string{o.Namespace}, nil }

// ByNode answers with one value or none.
func ByNode(o *Object) ([]string, error) {
	if o.Node == "" {
		return nil, nil
	}
	return []string{o.Node}, nil
}

// ByLabel answers with any number of values, some of them more than once if
// the object repeats them.
func ByLabel(o *Object) ([]string, error) { return o.Labels, nil }

// Indexer is a store of the suite's objects.
type Indexer = indexer.Interface[*Object]

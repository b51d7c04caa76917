package store

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// Draft is an object to be stored. The store does not retain it.
type Draft struct {
	// Object is the tree, with name, namespace and uid in its metadata. Its kind, apiVersion and
	// resourceVersion are ignored: readers choose the first two, the write determines the third.
	Object *api.Unstructured
	// Fields are the values for field selectors, besides name and namespace. Nil means none.
	Fields map[string]string
}

// encodedDraft is an encoded draft that lacks only its version.
type encodedDraft struct {
	key      Key
	uid      string
	labels   map[string]string
	fields   map[string]string
	deleting bool

	rest        []byte // from the quote after the version to the end of the object
	metadataEnd int    // offset in rest of the end of the metadata
}

// encode encodes a draft. It panics if that is not JSON.
func (d Draft) encode() encodedDraft {
	e := encodedDraft{
		key:      Key{Namespace: strings.Clone(d.Object.GetNamespace()), Name: strings.Clone(d.Object.GetName())},
		uid:      strings.Clone(d.Object.GetUID()),
		deleting: d.Object.Nested("metadata", "deletionTimestamp") != nil,
	}
	if labels := d.Object.GetLabels(); len(labels) > 0 {
		e.labels = labels
	}
	if len(d.Fields) > 0 {
		e.fields = maps.Clone(d.Fields)
	}
	metadata, _ := d.Object.Nested("metadata").(map[string]any) // not nil: it has a name
	e.rest = append(make([]byte, 0, 1<<10), '"')
	e.rest = append(appendMembers(e.rest, metadata, "resourceVersion"), '}')
	e.metadataEnd = len(e.rest)
	e.rest = append(appendMembers(e.rest, d.Object.Object, "metadata", "kind", "apiVersion"), '}')
	return e
}

// Preview returns the object that a draft would become, for a dry run. Version 0 omits the
// resourceVersion, for an object that was never stored.
func Preview(d Draft, version uint64) *Object {
	e := d.encode()
	return newObject(&e, version)
}

// appendMembers appends ",name":value for each member of an object but those excepted, sorted by
// name, so that equal trees have equal encodings.
func appendMembers(dst []byte, object map[string]any, except ...string) []byte {
	var few [16]string // avoids an allocation for small objects
	names := few[:0]
	for name := range object {
		if !slices.Contains(except, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, err := json.Marshal(object[name])
		if err != nil {
			panic("store: " + name + " cannot be encoded: " + err.Error())
		}
		dst = appendString(append(dst, ','), name)
		dst = append(append(dst, ':'), value...)
	}
	return dst
}

func appendString(dst []byte, text string) []byte {
	encoded, _ := json.Marshal(text) // cannot fail for a string
	return append(dst, encoded...)
}

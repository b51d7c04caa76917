package store

import (
	"errors"
	"fmt"
	"maps"
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

// encode encodes a draft into buffer, which the result uses until newObject has copied it.
func (d Draft) encode(buffer []byte) (encodedDraft, error) {
	if d.Object == nil {
		return encodedDraft{}, errors.New("store: no object")
	}
	e := encodedDraft{
		key:      Key{Namespace: strings.Clone(d.Object.GetNamespace()), Name: strings.Clone(d.Object.GetName())},
		uid:      strings.Clone(d.Object.GetUID()),
		deleting: d.Object.Nested("metadata", "deletionTimestamp") != nil,
	}
	if e.key.Name == "" {
		return encodedDraft{}, errors.New("store: no metadata.name")
	}
	if labels := d.Object.GetLabels(); len(labels) > 0 {
		e.labels = labels
	}
	if len(d.Fields) > 0 {
		e.fields = maps.Clone(d.Fields)
	}
	metadata, _ := d.Object.Nested("metadata").(map[string]any) // not nil: it has a name
	rest := append(buffer[:0], '"')
	rest, err := appendMembers(rest, metadata, "resourceVersion")
	if err != nil {
		return encodedDraft{}, fmt.Errorf("store: %q: %w", e.key.String(), err)
	}
	rest = append(rest, '}')
	e.metadataEnd = len(rest)
	rest, err = appendMembers(rest, d.Object.Object, "metadata", "kind", "apiVersion")
	if err != nil {
		return encodedDraft{}, fmt.Errorf("store: %q: %w", e.key.String(), err)
	}
	e.rest = append(rest, '}')
	return e, nil
}

// share reuses the equal parts of the previous version, so that all versions of an object can share
// one map of labels.
func (e *encodedDraft) share(old *Object) {
	e.key, e.uid = old.Key, shared(e.uid, old.UID)
	if maps.Equal(e.labels, old.Labels) {
		e.labels = old.Labels
	}
	if maps.Equal(e.fields, old.Fields) {
		e.fields = old.Fields
	}
}

func shared(text, old string) string {
	if text == old {
		return old
	}
	return text
}

// Preview returns the object that a draft would become, for a dry run. Version 0 omits the
// resourceVersion, for an object that was never stored.
func Preview(d Draft, version uint64) (*Object, error) {
	var object *Object
	err := withEncoded(d, func(e *encodedDraft) error {
		object = newObject(e, version)
		return nil
	})
	if err != nil || version != 0 {
		return object, err
	}
	// Cut out the member and the comma after it; metadata always has a name as well.
	rest := object.body[object.restStart+uint32(len(`",`)):]
	object.body = append([]byte(bodyStart+"{"), rest...)
	cut := object.restStart + uint32(len(`",`)) - uint32(len(bodyStart+"{"))
	object.metadataEnd -= cut
	object.restStart = uint32(len(bodyStart + "{"))
	return object, nil
}

// At returns the same content with another version. A watcher whose selection an object leaves gets
// the last matching state with the version of the write that removed it.
func (o *Object) At(version uint64) *Object { return o.at(version) }

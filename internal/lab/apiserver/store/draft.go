package store

import (
	"maps"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// Draft is what a write wants to store. The store reads it during the call and keeps nothing of it.
type Draft struct {
	// Object is the tree, with name, namespace and uid in its metadata. Kind, apiVersion and resourceVersion in it are
	// ignored: the first two depend on who reads, the third on when it is written.
	Object *api.Unstructured
	// Fields is what field selectors shall see of the object beyond its name and namespace; nil for nothing.
	Fields map[string]string
}

// encodedDraft is a draft that only lacks its version.
type encodedDraft struct {
	key      Key
	uid      string
	labels   map[string]string
	fields   map[string]string
	owners   []string
	deleting bool

	rest        []byte // from the quote that ends the version to the end of the object
	metadataEnd int    // position in rest after the metadata
}

// encode reads and encodes a draft into buffer, which the result uses until it has become an object.
func (d Draft) encode(buffer []byte) (encodedDraft, error) {
	if d.Object == nil {
		return encodedDraft{}, &KeyError{Reason: "there is no object"}
	}
	e := encodedDraft{
		key:      Key{Namespace: strings.Clone(d.Object.GetNamespace()), Name: strings.Clone(d.Object.GetName())},
		uid:      strings.Clone(d.Object.GetUID()),
		owners:   ownersOf(d.Object),
		deleting: d.Object.Nested("metadata", "deletionTimestamp") != nil,
	}
	if e.key.Name == "" {
		return encodedDraft{}, &KeyError{Key: e.key, Reason: "there is no metadata.name"}
	}
	if labels := d.Object.GetLabels(); len(labels) > 0 {
		e.labels = labels
	}
	if len(d.Fields) > 0 {
		e.fields = maps.Clone(d.Fields)
	}
	metadata, _ := d.Object.Nested("metadata").(map[string]any) // not nil: it has a name
	rest := append(buffer[:0], '"')
	rest, err := appendMembers(rest, metadata, true, "resourceVersion")
	if err != nil {
		return encodedDraft{}, &EncodingError{Key: e.key, Cause: err}
	}
	rest = append(rest, '}')
	e.metadataEnd = len(rest)
	rest, err = appendMembers(rest, d.Object.Object, true, "metadata", "kind", "apiVersion")
	if err != nil {
		return encodedDraft{}, &EncodingError{Key: e.key, Cause: err}
	}
	e.rest = append(rest, '}')
	return e, nil
}

// share takes over what is equal in the version before, so that a thousand versions of an object have one map of labels.
func (e *encodedDraft) share(old *Object) {
	e.key, e.uid = old.Key, shared(e.uid, old.UID)
	if maps.Equal(e.labels, old.Labels) {
		e.labels = old.Labels
	}
	if maps.Equal(e.fields, old.Fields) {
		e.fields = old.Fields
	}
	if slices.Equal(e.owners, old.Owners) {
		e.owners = old.Owners
	}
}

func shared(text, old string) string {
	if text == old {
		return old
	}
	return text
}

// ownersOf returns the UIDs of the owner references.
func ownersOf(o *api.Unstructured) []string {
	references, _ := o.Nested("metadata", "ownerReferences").([]any)
	var owners []string
	for _, reference := range references {
		fields, _ := reference.(map[string]any)
		if uid, _ := fields["uid"].(string); uid != "" {
			owners = append(owners, strings.Clone(uid))
		}
	}
	return owners
}

// Preview returns the object that a draft would become, without storing it anywhere: what a dry run answers. Version 0
// leaves the resource version out, for an object that has never had one.
func Preview(d Draft, version uint64) (*Object, error) {
	var object *Object
	err := withEncoded(d, func(e *encodedDraft) error {
		object = newObject(e, version)
		return nil
	})
	if err != nil || version != 0 {
		return object, err
	}
	// The member is cut out together with the comma behind it: metadata always has a name as well.
	rest := object.body[object.restStart+uint32(len(`",`)):]
	object.body = append([]byte(bodyStart+"{"), rest...)
	cut := object.restStart + uint32(len(`",`)) - uint32(len(bodyStart+"{"))
	object.metadataEnd -= cut
	object.restStart = uint32(len(bodyStart + "{"))
	return object, nil
}

// At returns the same content with another version: of an object that leaves a selection a watcher is sent the last state
// that was in it, with the version of the write that moved it out.
func (o *Object) At(version uint64) *Object { return o.at(version) }

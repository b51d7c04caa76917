package store

import (
	"bytes"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// Event is one write of a collection.
type Event struct {
	// Type is ADDED, MODIFIED or DELETED.
	Type api.WatchEventType
	// Object is the object as it was written. Of a deletion it is the last state with the version of the deletion.
	Object *Object
	// Previous is the object before the write; nil for ADDED.
	Previous *Object
}

// Version returns the version of the write.
func (e Event) Version() uint64 { return e.Object.Version }

// pinned is about how much memory the event alone keeps, in bytes: what it replaced, and of a deletion what it says.
// Object of the other types stands in the tree, or is the Previous of a later event.
func (e Event) pinned() int {
	size := eventOverhead
	if e.Previous != nil {
		size += e.Previous.size()
	}
	if e.Type == api.WatchDeleted {
		size += e.Object.size()
	}
	return size
}

// eventOverhead is the place that an event takes in the window.
const eventOverhead = 32

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

// Object is one version of an object, encoded. It is shared by everybody who reads it and is never changed: not its
// fields, not its maps, not its bytes.
type Object struct {
	// Key names the object in its collection.
	Key Key
	// UID is metadata.uid: what tells an object from a later one of the same name.
	UID string
	// Version is metadata.resourceVersion: the version of the write that made this object what it is.
	Version uint64
	// Labels is metadata.labels; nil if there are none.
	Labels map[string]string
	// Fields is what field selectors can see of the object beyond its name and namespace; nil for most.
	Fields map[string]string
	// Owners are the UIDs in metadata.ownerReferences; nil for most.
	Owners []string
	// Deleting says that metadata.deletionTimestamp is set.
	Deleting bool

	// metadataEnd is the position in body after the metadata.
	metadataEnd uint32
	// restStart is the position in body after the resource version: from here on versions of equal content are equal.
	restStart uint32
	body      []byte
}

// The object in JSON begins with its metadata, and that with the resource version, which only the store knows and only
// when it commits. Everything after it is encoded before, without a lock.
const (
	bodyStart     = `{"metadata":`
	versionStart  = bodyStart + `{"resourceVersion":"`
	maximalDigits = 20
	// objectOverhead is about what an object takes besides its body: the struct, its strings, its place in the tree.
	objectOverhead = 256
)

// newObject completes a draft with its version.
func newObject(d *encodedDraft, version uint64) *Object {
	var digits [maximalDigits]byte
	number := strconv.AppendUint(digits[:0], version, 10)
	restStart := len(versionStart) + len(number)
	body := make([]byte, 0, restStart+len(d.rest))
	body = append(append(append(body, versionStart...), number...), d.rest...)
	return &Object{
		Key: d.key, UID: d.uid, Version: version,
		Labels: d.labels, Fields: d.fields, Owners: d.owners, Deleting: d.deleting,
		metadataEnd: uint32(restStart + d.metadataEnd), restStart: uint32(restStart), body: body,
	}
}

// at returns the same object with another version.
func (o *Object) at(version uint64) *Object {
	d := encodedDraft{
		key: o.Key, uid: o.UID, labels: o.Labels, fields: o.Fields, owners: o.Owners, deleting: o.Deleting,
		metadataEnd: int(o.metadataEnd - o.restStart), rest: o.rest(),
	}
	return newObject(&d, version)
}

// rest is the encoding without the version.
func (o *Object) rest() []byte { return o.body[o.restStart:] }

// size is about what the object takes of memory, in bytes.
func (o *Object) size() int { return len(o.body) + objectOverhead }

// Body returns the object in JSON without kind and apiVersion. It begins with the metadata. The bytes are shared.
func (o *Object) Body() []byte { return o.body }

// Metadata returns the metadata in JSON, a part of Body. The bytes are shared.
func (o *Object) Metadata() []byte { return o.body[len(bodyStart):o.metadataEnd] }

// AppendJSON appends the complete object to dst: Body with kind and apiVersion in front.
func (o *Object) AppendJSON(dst []byte, apiVersion, kind string) []byte {
	dst = append(dst, `{"kind":`...)
	dst = appendString(dst, kind)
	dst = append(dst, `,"apiVersion":`...)
	dst = appendString(dst, apiVersion)
	dst = append(dst, ',')
	return append(dst, o.body[1:]...)
}

// Decode returns the object as a tree that belongs to the caller, without kind and apiVersion.
func (o *Object) Decode() *api.Unstructured {
	tree := new(api.Unstructured)
	if err := tree.UnmarshalJSON(bytes.Clone(o.body)); err != nil {
		panic("store: an encoded object cannot be read back: " + err.Error()) // it was written by appendValue
	}
	return tree
}

package store

import (
	"bytes"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// Event is one write to a collection.
type Event struct {
	// Type is ADDED, MODIFIED or DELETED.
	Type api.WatchEventType
	// Object is the object as written. For a deletion it is the last state with the version of the
	// deletion.
	Object *Object
	// Previous is the object before the write; nil for ADDED.
	Previous *Object
}

func (e Event) Version() uint64 { return e.Object.Version }

// Key names an object in its collection. Namespace is empty for cluster-scoped objects.
type Key struct {
	Namespace, Name string
}

// String returns namespace/name, or just the name: the end of the key in etcd.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// compare orders keys like the strings namespace/name, without building them.
func (k Key) compare(other Key) int {
	if k.Namespace == other.Namespace {
		return strings.Compare(k.Name, other.Name)
	}
	shared := min(len(k.Namespace), len(other.Namespace))
	if c := strings.Compare(k.Namespace[:shared], other.Namespace[:shared]); c != 0 {
		return c
	}
	// One namespace is a prefix of the other. The slash after the shorter one decides.
	if len(k.Namespace) == shared {
		return int('/') - int(other.Namespace[shared])
	}
	return int(k.Namespace[shared]) - int('/')
}

// Object is one version of an object, encoded. It is shared by all readers and immutable, including
// its maps and bytes.
type Object struct {
	Key Key
	// UID is metadata.uid. It distinguishes an object from a later one with the same name.
	UID string
	// Version is metadata.resourceVersion.
	Version uint64
	// Labels is metadata.labels, nil if empty.
	Labels map[string]string
	// Fields are the values for field selectors besides name and namespace; usually nil.
	Fields map[string]string
	// Deleting reports whether metadata.deletionTimestamp is set.
	Deleting bool

	// metadataEnd is the offset in body of the end of the metadata.
	metadataEnd uint32
	// restStart is the offset in body after the resourceVersion. From there on, equal content has
	// equal bytes.
	restStart uint32
	body      []byte
}

// The JSON starts with the metadata, and that with the resourceVersion, which is known only at the
// commit. Everything after it is encoded before, without a lock.
const (
	bodyStart    = `{"metadata":`
	versionStart = bodyStart + `{"resourceVersion":"`
)

// newObject completes a draft with its version.
func newObject(d *encodedDraft, version uint64) *Object {
	start, rest := bodyStart+"{", d.rest[len(`",`):] // metadata has a name, too
	if version != 0 {
		start, rest = versionStart+strconv.FormatUint(version, 10), d.rest
	}
	restStart := len(start)
	body := make([]byte, 0, restStart+len(rest))
	body = append(append(body, start...), rest...)
	return &Object{
		Key: d.key, UID: d.uid, Version: version,
		Labels: d.labels, Fields: d.fields, Deleting: d.deleting,
		metadataEnd: uint32(restStart + d.metadataEnd - (len(d.rest) - len(rest))),
		restStart:   uint32(restStart), body: body,
	}
}

// At returns the same content with another version. A watcher whose selection an object leaves gets
// the last matching state with the version of the write that removed it.
func (o *Object) At(version uint64) *Object {
	d := encodedDraft{
		key: o.Key, uid: o.UID, labels: o.Labels, fields: o.Fields, deleting: o.Deleting,
		metadataEnd: int(o.metadataEnd - o.restStart), rest: o.rest(),
	}
	return newObject(&d, version)
}

// rest returns the encoding after the version.
func (o *Object) rest() []byte { return o.body[o.restStart:] }

// Body returns the object as JSON without kind and apiVersion. It starts with the metadata. The
// bytes are shared.
func (o *Object) Body() []byte { return o.body }

// Metadata returns the metadata as JSON, a part of Body. The bytes are shared.
func (o *Object) Metadata() []byte { return o.body[len(bodyStart):o.metadataEnd] }

// AppendJSON appends Body to dst, with kind and apiVersion in front.
func (o *Object) AppendJSON(dst []byte, apiVersion, kind string) []byte {
	dst = append(dst, `{"kind":`...)
	dst = appendString(dst, kind)
	dst = append(dst, `,"apiVersion":`...)
	dst = appendString(dst, apiVersion)
	dst = append(dst, ',')
	return append(dst, o.body[1:]...)
}

// Decode returns a new tree of the object, without kind and apiVersion.
func (o *Object) Decode() *api.Unstructured {
	tree := new(api.Unstructured)
	if err := tree.UnmarshalJSON(bytes.Clone(o.body)); err != nil {
		panic("store: an encoded object cannot be read back: " + err.Error()) // it was encoded as JSON
	}
	return tree
}

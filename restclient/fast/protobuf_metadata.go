package fast

import (
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient/api"
)

// readProtobuf decodes the metadata of an object, whole or not: it is field 1 of every Kubernetes
// object.
func (r *metadataReader) readProtobuf(kind api.TypeMeta, message []byte) (*partial, error) {
	r.text.reset()
	object := &api.PartialObjectMetadata{TypeMeta: kind}
	r.current = object
	f := fields{rest: message}
	for f.next() {
		if f.number == 1 {
			if err := r.metadataMessage(f.value); err != nil {
				return nil, err
			}
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	r.text.finish()
	r.current = nil
	return object, nil
}

var errNotText = errors.New("a string field is not valid UTF-8")

// metadataMessage decodes an ObjectMeta. Entries of maps, owners and managed fields are repeated
// fields, all of a kind in a row. (If a writer mixes them, the last row counts.)
func (r *metadataReader) metadataMessage(message []byte) error {
	meta := &r.current.ObjectMeta
	f := fields{rest: message}
	for {
		before := f.rest
		if !f.next() {
			return f.err
		}
		var err error
		switch f.number {
		case 11:
			err = r.mapMessages(f.row(before), &meta.Labels, &r.parts.labels)
		case 12:
			err = r.mapMessages(f.row(before), &meta.Annotations, &r.parts.annotations)
		case 13:
			err = r.ownerMessages(f.row(before))
		default:
			err = r.simpleField(meta, f.number, f.value, f.n)
		}
		if err != nil {
			return err
		}
	}
}

func (r *metadataReader) simpleField(meta *api.ObjectMeta, number protowire.Number, value []byte, n uint64) (err error) {
	switch number {
	case 1:
		err = r.ownText(&meta.Name, value)
	case 2:
		err = r.ownText(&meta.GenerateName, value)
	case 3:
		if !utf8.Valid(value) {
			return errNotText
		}
		meta.Namespace = r.interned(value)
	case 4:
		err = r.ownText(&meta.SelfLink, value)
	case 5:
		err = r.ownText(&meta.UID, value)
	case 6:
		err = r.ownText(&meta.ResourceVersion, value)
	case 7:
		meta.Generation = int64(n)
	case 8:
		meta.CreationTimestamp, err = readTime(value)
	case 9:
		var moment api.Time
		moment, err = readTime(value)
		meta.DeletionTimestamp = &moment
	case 10:
		meta.DeletionGracePeriodSeconds = new(int64(n))
	case 14:
		meta.Finalizers = append(meta.Finalizers, r.parts.intern(value).text)
	}
	return err
}

func (r *metadataReader) ownText(into *string, value []byte) error {
	if !utf8.Valid(value) {
		return errNotText
	}
	r.text.add(into, value)
	return nil
}

func (r *metadataReader) mapMessages(row []byte, into *map[string]string, memory *recent[map[string]string]) error {
	if known, n := memory.find(row); n == len(row) {
		*into = known
		return nil
	}
	from := len(r.text.pairs)
	f := fields{rest: row}
	for f.next() {
		var key, value []byte
		entry := fields{rest: f.value}
		for entry.next() {
			switch entry.number {
			case 1:
				key = entry.value
			case 2:
				value = entry.value
			}
		}
		if entry.err != nil {
			return entry.err
		}
		if !utf8.Valid(key) || !utf8.Valid(value) {
			return errNotText
		}
		r.text.addPair(r.parts.intern(key), value)
	}
	r.text.maps = append(r.text.maps, textMap{into, from, len(r.text.pairs), memory, row})
	return f.err
}

func (r *metadataReader) ownerMessages(row []byte) error {
	if known, n := r.parts.owners.find(row); n == len(row) {
		r.current.OwnerReferences = known
		return nil
	}
	var owners []api.OwnerReference
	f := fields{rest: row}
	for f.next() {
		owner, err := readOwner(f.value)
		if err != nil {
			return err
		}
		owners = append(owners, owner)
	}
	r.current.OwnerReferences = owners
	r.parts.owners.put(row, owners)
	return f.err
}

func readOwner(message []byte) (owner api.OwnerReference, err error) {
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 1:
			owner.Kind = string(f.value)
		case 3:
			owner.Name = string(f.value)
		case 4:
			owner.UID = string(f.value)
		case 5:
			owner.APIVersion = string(f.value)
		case 6:
			owner.Controller = new(f.n != 0)
		case 7:
			owner.BlockOwnerDeletion = new(f.n != 0)
		}
	}
	return owner, f.err
}

// readTime decodes a Timestamp. Kubernetes has whole seconds.
func readTime(message []byte) (api.Time, error) {
	if len(message) == 0 {
		return api.Time{}, nil
	}
	var seconds, nanos int64
	f := fields{rest: message}
	for f.next() {
		switch f.number {
		case 1:
			seconds = int64(f.n)
		case 2:
			nanos = int64(int32(f.n))
		}
	}
	if f.err != nil {
		return api.Time{}, f.err
	}
	// The range that JSON can express.
	if seconds < minSeconds || seconds > maxSeconds || nanos < 0 || nanos > math.MaxInt32 {
		return api.Time{}, errTime
	}
	return api.NewTime(time.Unix(seconds, nanos).UTC()), nil
}

const (
	minSeconds = -62135596800 // the beginning of the year 1
	maxSeconds = 253402300799 // the end of the year 9999
)

var errTime = errors.New("a time before the year 1 or after the year 9999")

package restclient

import (
	"encoding/json"
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient/api"
)

// readProtobuf reads the head of an object from its message. That of every Kubernetes object, whole or not, has the
// metadata as field 1.
func (r *headReader) readProtobuf(kind api.TypeMeta, message []byte) (*api.PartialObjectMetadata, error) {
	r.text.reset()
	head := &api.PartialObjectMetadata{TypeMeta: kind}
	r.head = head
	err := forEachField(message, func(number protowire.Number, value []byte, _ uint64) error {
		if number == 1 {
			return r.metadataMessage(value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.text.finish(&r.memory)
	r.head = nil
	return head, nil
}

var errNotText = errors.New("a text that is not UTF-8")

// metadataMessage reads an ObjectMeta. Entries of maps, owners and managed fields come one by one, all of a kind in a row
// (other writers may mix them, then the last row counts).
func (r *headReader) metadataMessage(message []byte) error {
	meta := &r.head.ObjectMeta
	for len(message) > 0 {
		number, value, n, size, err := consumeField(message)
		if err != nil {
			return err
		}
		switch number {
		case 11:
			size = rowLength(message, number)
			err = r.mapMessages(message[:size], &meta.Labels, &r.memory.labels)
		case 12:
			size = rowLength(message, number)
			err = r.mapMessages(message[:size], &meta.Annotations, &r.memory.annotations)
		case 13:
			size = rowLength(message, number)
			err = r.ownerMessages(message[:size])
		case 17:
			size = rowLength(message, number)
			err = r.managedMessages(message[:size])
		default:
			err = r.simpleField(meta, number, value, n)
		}
		if err != nil {
			return err
		}
		message = message[size:]
	}
	return nil
}

func (r *headReader) simpleField(meta *api.ObjectMeta, number protowire.Number, value []byte, n uint64) (err error) {
	switch number {
	case 1:
		err = r.ownText(&meta.Name, value)
	case 2:
		err = r.ownText(&meta.GenerateName, value)
	case 3:
		if !utf8.Valid(value) {
			return errNotText
		}
		meta.Namespace = r.shared(value)
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
		meta.Finalizers = append(meta.Finalizers, r.memory.word(value).text)
	}
	return err
}

func (r *headReader) ownText(into *string, value []byte) error {
	if !utf8.Valid(value) {
		return errNotText
	}
	r.own(into, value)
	return nil
}

// consumeField reads a field and returns its size with the tag.
func consumeField(message []byte) (number protowire.Number, value []byte, n uint64, size int, err error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return 0, nil, 0, 0, protowire.ParseError(tag)
	}
	switch kind {
	case protowire.BytesType:
		value, size = protowire.ConsumeBytes(message[tag:])
	case protowire.VarintType:
		n, size = protowire.ConsumeVarint(message[tag:])
	default:
		size = protowire.ConsumeFieldValue(number, kind, message[tag:])
	}
	if size < 0 {
		return 0, nil, 0, 0, protowire.ParseError(size)
	}
	return number, value, n, tag + size, nil
}

// rowLength returns the length of the fields of that number at the beginning of the message, the first of which is known
// to be in order.
func rowLength(message []byte, number protowire.Number) int {
	length := 0
	for length < len(message) {
		next, _, _, size, err := consumeField(message[length:])
		if err != nil || next != number {
			break
		}
		length += size
	}
	return length
}

func (r *headReader) mapMessages(row []byte, into *map[string]string, memory *recent[map[string]string]) error {
	if known, ok := memory.same(row); ok {
		*into = known
		return nil
	}
	from := len(r.text.pairs)
	err := forEachField(row, func(_ protowire.Number, entry []byte, _ uint64) error {
		var key, value []byte
		err := forEachField(entry, func(number protowire.Number, text []byte, _ uint64) error {
			switch number {
			case 1:
				key = text
			case 2:
				value = text
			}
			return nil
		})
		if err == nil && !(utf8.Valid(key) && utf8.Valid(value)) {
			err = errNotText
		}
		if err == nil {
			r.text.addPair(r.memory.word(key), value)
		}
		return err
	})
	r.text.maps = append(r.text.maps, textMap{into, from, len(r.text.pairs), memory, row})
	return err
}

func (r *headReader) ownerMessages(row []byte) error {
	if known, ok := r.memory.owners.same(row); ok {
		r.head.OwnerReferences = known
		return nil
	}
	var owners []api.OwnerReference
	err := forEachField(row, func(_ protowire.Number, message []byte, _ uint64) error {
		owner, err := readOwner(message)
		owners = append(owners, owner)
		return err
	})
	if err == nil {
		r.head.OwnerReferences = owners
		r.memory.owners.put(row, owners)
	}
	return err
}

func readOwner(message []byte) (owner api.OwnerReference, err error) {
	err = forEachField(message, func(number protowire.Number, value []byte, n uint64) error {
		switch number {
		case 1:
			owner.Kind = string(value)
		case 3:
			owner.Name = string(value)
		case 4:
			owner.UID = string(value)
		case 5:
			owner.APIVersion = string(value)
		case 6:
			owner.Controller = new(n != 0)
		case 7:
			owner.BlockOwnerDeletion = new(n != 0)
		}
		return nil
	})
	return owner, err
}

// managedMessages makes of the entries the JSON text that the server would have sent in their place: that takes as long as
// copying, since what is large in them, the fields, is JSON already.
func (r *headReader) managedMessages(row []byte) error {
	r.json = append(r.json[:0], '[')
	err := forEachField(row, func(_ protowire.Number, message []byte, _ uint64) (err error) {
		if len(r.json) > 1 {
			r.json = append(r.json, ',')
		}
		r.json, err = appendManagedEntry(r.json, message)
		return err
	})
	if err != nil {
		return err
	}
	r.json = append(r.json, ']')
	form, own, n := r.memory.managed.Match(r.json)
	if form != nil && n == len(r.json) {
		r.text.addManaged(&r.head.ManagedFields, form, own)
		return nil
	}
	if !json.Valid(r.json) {
		return errManagedFields
	}
	r.head.ManagedFields = api.NewManagedFields(r.json)
	if !r.single {
		r.memory.managed.Learn(r.json)
	}
	return nil
}

var errManagedFields = errors.New("managed fields that are not JSON")

// appendManagedEntry writes an entry of the managed fields in the order of the server's JSON.
func appendManagedEntry(b, message []byte) ([]byte, error) {
	var texts [9][]byte // by number of the field
	var moment []byte
	err := forEachField(message, func(number protowire.Number, value []byte, _ uint64) error {
		switch number {
		case 4:
			moment = value
		case 7:
			return forEachField(value, func(number protowire.Number, raw []byte, _ uint64) error {
				if number == 1 {
					texts[7] = raw
				}
				return nil
			})
		case 1, 2, 3, 6, 8:
			texts[number] = value
		}
		return nil
	})
	if err != nil {
		return b, err
	}
	b = append(b, '{')
	first := len(b)
	b = appendTextField(b, first, `"manager":`, texts[1])
	b = appendTextField(b, first, `"operation":`, texts[2])
	b = appendTextField(b, first, `"apiVersion":`, texts[3])
	if moment != nil {
		at, err := readTime(moment)
		if err != nil {
			return b, err
		}
		b = appendName(b, first, `"time":"`)
		b = append(at.AppendFormat(b, time.RFC3339), '"')
	}
	b = appendTextField(b, first, `"fieldsType":`, texts[6])
	if len(texts[7]) > 0 {
		b = append(appendName(b, first, `"fieldsV1":`), texts[7]...)
	}
	b = appendTextField(b, first, `"subresource":`, texts[8])
	return append(b, '}'), nil
}

// appendName begins a field of a JSON object whose first field is to begin at first.
func appendName(b []byte, first int, name string) []byte {
	if len(b) > first {
		b = append(b, ',')
	}
	return append(b, name...)
}

func appendTextField(b []byte, first int, name string, text []byte) []byte {
	if len(text) == 0 {
		return b
	}
	b = appendName(b, first, name)
	if plain, ascii := plainText(text); plain && ascii {
		return append(append(append(b, '"'), text...), '"')
	}
	quoted, _ := json.Marshal(string(text)) // a string cannot fail
	return append(b, quoted...)
}

// readTime reads a Timestamp. Kubernetes has whole seconds.
func readTime(message []byte) (api.Time, error) {
	var seconds, nanos int64
	err := forEachField(message, func(number protowire.Number, _ []byte, n uint64) error {
		switch number {
		case 1:
			seconds = int64(n)
		case 2:
			nanos = int64(int32(n))
		}
		return nil
	})
	if err != nil || len(message) == 0 {
		return api.Time{}, err
	}
	// What JSON can express.
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

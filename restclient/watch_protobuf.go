package restclient

import (
	"encoding/binary"

	"orrery/restclient/api"
)

// nextProtobuf is next for protobuf: four bytes with the length, then a message metav1.WatchEvent with type and object. The
// object is in an envelope, the event is not.
func (d *eventDecoder[T]) nextProtobuf() (event api.WatchEvent[T], size int, err error) {
	if d.stream.pos == d.stream.end {
		if err := d.stream.more(); err != nil {
			return event, 0, err
		}
	}
	prefix, err := d.stream.take(4)
	if err != nil {
		return event, 0, err
	}
	length := binary.BigEndian.Uint32(prefix)
	if uint64(length) > uint64(d.stream.limit) {
		return event, 0, &TooLargeError{What: d.stream.what, Limit: d.stream.limit}
	}
	frame, err := d.stream.take(int(length))
	if err != nil {
		return event, 0, err
	}
	size = 4 + len(frame)
	kind, object, err := readWatchEvent(frame)
	event.Type = kind
	switch {
	case err != nil:
		return event, size, err
	case event.Type == "":
		return event, size, errNoEventType
	case object == nil:
		return event, size, errNoObject
	}
	return event, size, d.fillProtobuf(&event, object)
}

func readWatchEvent(frame []byte) (kind api.WatchEventType, object []byte, err error) {
	event := fields{rest: frame}
	for event.next() {
		switch event.number {
		case 1:
			kind = eventTypeOf(event.value)
		case 2:
			if object, err = readRaw(event.value); err != nil {
				return kind, nil, err
			}
		}
	}
	return kind, object, event.err
}

// readRaw reads a message whose field 1 is the bytes of something else: a RawExtension, a FieldsV1.
func readRaw(message []byte) (raw []byte, err error) {
	f := fields{rest: message}
	for f.next() {
		if f.number == 1 {
			raw = f.value
		}
	}
	return raw, f.err
}

// fillProtobuf decodes the object according to the type of the event.
func (d *eventDecoder[T]) fillProtobuf(event *api.WatchEvent[T], envelope []byte) error {
	kind, message, err := openEnvelope(envelope)
	if err != nil {
		return err
	}
	switch {
	case carriesObject(event.Type):
		object, err := d.reader.readProtobuf(kind, message)
		if err != nil {
			return err
		}
		event.Object, event.ResourceVersion = object, object.GetResourceVersion()
	case event.Type == api.WatchError:
		status, err := readStatus(kind, message)
		event.Status = &status
		return err
	default: // see fill
		head, err := (&headReader{single: true}).readProtobuf(kind, message)
		if err != nil {
			return err
		}
		event.ResourceVersion = head.ResourceVersion
		event.InitialEventsEnd = event.Type == api.WatchBookmark && api.IsInitialEventsEnd(head.Annotations)
	}
	return nil
}

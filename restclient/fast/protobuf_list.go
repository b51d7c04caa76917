package fast

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient"
	"orrery/restclient/api"
)

// decodeProtobuf is decode for protobuf. It also decodes the list in its envelope as it
// arrives. The envelope must name the kind first, as all servers write it; otherwise the list would
// have to be buffered.
func (d *listDecoder) decodeProtobuf() (*api.List[*partial], error) {
	if magic, err := d.stream.take(len(protobufMagic)); err != nil {
		return nil, err
	} else if string(magic) != protobufMagic {
		return nil, errNoMagic
	}
	for {
		number, size, more, err := d.stream.protobufField()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := d.envelopeField(number, size); err != nil {
			return nil, err
		}
	}
	if !d.hasItems {
		return nil, errNoBody
	}
	return d.resultProtobuf()
}

func (d *listDecoder) envelopeField(number protowire.Number, size int) error {
	if number == 2 {
		return d.message(size)
	}
	value, err := d.stream.take(size)
	switch {
	case err != nil:
		return err
	case number == 1:
		d.list.TypeMeta, err = readTypeMeta(value)
	case number == 3 && size > 0:
		err = errEncodedContent
	}
	return err
}

// message reads the content of the envelope: size bytes.
func (d *listDecoder) message(size int) error {
	d.hasItems = true
	if d.list.Kind == "" {
		return errKindAfterObject
	}
	if d.list.Kind == "Status" {
		message, err := d.stream.take(size)
		if err != nil {
			return err
		}
		status, err := readStatus(d.list.TypeMeta, message)
		if err == nil && status.Status == api.StatusFailure {
			err = api.NewStatusError(status)
		}
		return err
	}
	item := api.TypeMeta{Kind: strings.TrimSuffix(d.list.Kind, "List"), APIVersion: d.list.APIVersion}
	end := d.stream.offset() + int64(size)
	for d.stream.offset() < end {
		number, length, more, err := d.stream.protobufField()
		if err != nil {
			return err
		}
		if !more {
			return midway(io.EOF)
		}
		if d.stream.offset()+int64(length) > end {
			return errOverrun
		}
		value, err := d.stream.take(length)
		if err != nil {
			return err
		}
		if err := d.listField(number, value, item); err != nil {
			return err
		}
	}
	if d.stream.offset() != end {
		return errOverrun
	}
	return nil
}

var errOverrun = errors.New("a field that is longer than its message")

func (d *listDecoder) listField(number protowire.Number, value []byte, kind api.TypeMeta) (err error) {
	switch number {
	case 1:
		d.list.ListMeta, err = readListMeta(value)
	case 2:
		if err := d.limit.Full(len(d.list.Items)); err != nil {
			return err
		}
		item, failed := d.reader.readProtobuf(kind, value)
		if failed != nil {
			return d.badItem(failed)
		}
		d.list.Items = append(d.list.Items, item)
	}
	return err
}

func (d *listDecoder) resultProtobuf() (*api.List[*partial], error) {
	if d.list.Kind == "Status" {
		return nil, nil
	}
	if !strings.HasSuffix(d.list.Kind, "List") {
		return nil, fmt.Errorf("expected a list, got an object of kind %q", d.list.Kind)
	}
	return &d.list, nil
}

// protobufField reads the tag of the next field of a message and returns its number and size, if it
// has bytes. It skips fields that are numbers; envelopes and lists need none. more is false at the
// end of the body.
func (s *stream) protobufField() (number protowire.Number, size int, more bool, err error) {
	for {
		tag, err := binary.ReadUvarint(s)
		if err == io.EOF {
			return 0, 0, false, nil
		}
		if err != nil {
			return 0, 0, false, err
		}
		number, kind := protowire.DecodeTag(tag)
		if number < protowire.MinValidNumber {
			return 0, 0, false, errFieldNumber
		}
		switch kind {
		case protowire.BytesType:
			length, err := binary.ReadUvarint(s)
			if err != nil {
				return 0, 0, false, midway(err)
			}
			if length > maxMessage {
				return 0, 0, false, &restclient.TooLargeError{What: "a message", Limit: maxMessage}
			}
			return number, int(length), true, nil
		case protowire.VarintType:
			_, err = binary.ReadUvarint(s)
		case protowire.Fixed32Type:
			_, err = s.take(4)
		case protowire.Fixed64Type:
			_, err = s.take(8)
		default:
			err = errFieldNumber
		}
		if err != nil {
			return 0, 0, false, midway(err)
		}
	}
}

// maxMessage is the limit of protobuf.
const maxMessage = 1<<31 - 1

var errFieldNumber = errors.New("a field of protobuf with an impossible number or type")

// ReadByte consumes a byte. It makes the stream an io.ByteReader.
func (s *stream) ReadByte() (byte, error) {
	if s.pos == s.end {
		if err := s.more(); err != nil {
			return 0, err
		}
	}
	s.pos++
	return s.buf[s.pos-1], nil
}

// take consumes the next n bytes.
func (s *stream) take(n int) ([]byte, error) {
	if n > s.limit {
		return nil, s.tooLarge()
	}
	for s.end-s.pos < n {
		if err := s.more(); err != nil {
			return nil, midway(err)
		}
	}
	taken := s.buf[s.pos : s.pos+n]
	s.pos += n
	return taken, nil
}

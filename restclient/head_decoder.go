package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"orrery/restclient/api"
)

// decodeHead reads the head of an object in one pass: fields that are wanted are taken out, all others are stepped over
// (see boundary) without being understood. encoding/json needs several times as long, because it looks at every byte
// twice. Unlike encoding/json it takes field names only as Kubernetes spells them.
func decodeHead(data []byte) (*api.PartialObjectMetadata, error) {
	if isNull(data) {
		return nil, errNullObject
	}
	s := &stream{buf: data, end: len(data), err: io.EOF, limit: len(data), what: "an object"}
	head := &api.PartialObjectMetadata{}
	err := walkObject(s, func(key []byte) error {
		switch string(key) {
		case "kind":
			return textField(s, &head.Kind)
		case "apiVersion":
			return textField(s, &head.APIVersion)
		case "metadata":
			return metadataField(s, &head.ObjectMeta)
		}
		_, err := s.value()
		return err
	})
	if err != nil {
		return nil, err
	}
	return head, s.finish()
}

// walkObject calls field for each field of the object that follows. field consumes the value; key is only valid until it
// does.
func walkObject(s *stream, field func(key []byte) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		key, ok, err := s.key(first)
		if err != nil || !ok {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
	}
}

func metadataField(s *stream, meta *api.ObjectMeta) error {
	if null, err := nullField(s); null || err != nil {
		return err
	}
	return walkObject(s, func(key []byte) error {
		switch string(key) {
		case "name":
			return textField(s, &meta.Name)
		case "generateName":
			return textField(s, &meta.GenerateName)
		case "namespace":
			return textField(s, &meta.Namespace)
		case "selfLink":
			return textField(s, &meta.SelfLink)
		case "uid":
			return textField(s, &meta.UID)
		case "resourceVersion":
			return textField(s, &meta.ResourceVersion)
		case "labels":
			return textMapField(s, &meta.Labels)
		case "annotations":
			return textMapField(s, &meta.Annotations)
		case "managedFields":
			return rawField(s, &meta.ManagedFields)
		case "generation":
			return jsonField(s, &meta.Generation)
		case "creationTimestamp":
			return timeField(s, &meta.CreationTimestamp)
		case "deletionTimestamp":
			return jsonField(s, &meta.DeletionTimestamp)
		case "deletionGracePeriodSeconds":
			return jsonField(s, &meta.DeletionGracePeriodSeconds)
		case "ownerReferences":
			return jsonField(s, &meta.OwnerReferences)
		case "finalizers":
			return jsonField(s, &meta.Finalizers)
		}
		_, err := s.value()
		return err
	})
}

// jsonField leaves a field that is rare or small to encoding/json.
func jsonField(s *stream, into any) error {
	raw, err := s.value()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// rawField keeps the bytes of a field that nobody here looks into.
func rawField(s *stream, into *json.RawMessage) error {
	raw, err := s.value()
	*into = bytes.Clone(raw)
	return err
}

func textField(s *stream, into *string) error {
	raw, err := s.value()
	if err != nil {
		return err
	}
	*into, err = unquote(raw)
	return err
}

// timeField reads a moment where encoding/json would take three turns.
func timeField(s *stream, into *api.Time) error {
	var text string
	if err := textField(s, &text); err != nil || text == "" {
		return err
	}
	moment, err := time.Parse(time.RFC3339, text)
	*into = api.NewTime(moment)
	return err
}

func textMapField(s *stream, into *map[string]string) error {
	if null, err := nullField(s); null || err != nil {
		return err
	}
	out := map[string]string{}
	err := walkObject(s, func(key []byte) error {
		name, err := unquoteInner(key)
		if err != nil {
			return err
		}
		var value string
		if err := textField(s, &value); err != nil {
			return err
		}
		out[name] = value
		return nil
	})
	*into = out
	return err
}

var errNotNull = errors.New("a word that is not null where an object should be")

// nullField consumes null, if that is what follows.
func nullField(s *stream) (bool, error) {
	if c, err := s.peek(); err != nil || c != 'n' {
		return false, midway(err)
	}
	raw, err := s.value()
	if err == nil && string(raw) != "null" {
		err = errNotNull
	}
	return true, err
}

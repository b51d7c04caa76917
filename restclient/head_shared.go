package restclient

import (
	"encoding/json"

	"orrery/restclient/api"
)

// The fields that objects share, in JSON.

// mapField reads labels or annotations. The same bytes make the same map.
func (r *headReader) mapField(into *map[string]string, memory *recent[map[string]string]) error {
	if null, err := r.at.null(); null || err != nil {
		return err
	}
	start := r.at.pos
	if known, n := memory.at(r.at.data[start:]); n > 0 {
		*into = known
		r.at.pos += n
		return nil
	}
	if err := r.at.expect('{'); err != nil {
		return err
	}
	from := len(r.text.pairs)
	for first := true; ; first = false {
		name, ok, err := r.at.field(first)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		key, err := r.key(name)
		if err != nil {
			return err
		}
		value, err := r.textValue()
		if err != nil {
			return err
		}
		r.text.addPair(key, value)
	}
	r.text.maps = append(r.text.maps, textMap{into, from, len(r.text.pairs), memory, r.at.data[start:r.at.pos]})
	return nil
}

// key is the name of a field, which is unquoted only if it has to be.
func (r *headReader) key(name []byte) (*word, error) {
	if plain, ascii := plainText(name); plain && ascii {
		return r.memory.word(name), nil
	}
	text, err := unquoteInner(name)
	return r.memory.word([]byte(text)), err
}

func (r *headReader) ownersField() error {
	if _, err := r.at.next(); err != nil {
		return err
	}
	if known, n := r.memory.owners.at(r.at.data[r.at.pos:]); n > 0 {
		r.head.OwnerReferences = known
		r.at.pos += n
		return nil
	}
	raw, err := r.at.value()
	if err != nil {
		return err
	}
	err = json.Unmarshal(raw, &r.head.OwnerReferences)
	if err == nil && raw[0] == '[' {
		r.memory.owners.put(raw, r.head.OwnerReferences)
	}
	return err
}

// managedField keeps a text that nobody here looks into.
func (r *headReader) managedField() error {
	if null, err := r.at.null(); null || err != nil {
		return err
	}
	form, own, n := r.memory.managed.Match(r.at.data[r.at.pos:])
	if form != nil {
		r.at.pos += n
		r.text.addManaged(&r.head.ManagedFields, form, own)
		return nil
	}
	raw, err := r.at.value()
	if err != nil {
		return err
	}
	r.head.ManagedFields = api.NewManagedFields(raw)
	if raw[0] == '[' && !r.single {
		r.memory.managed.Learn(raw)
	}
	return nil
}

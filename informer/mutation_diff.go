package informer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Difference is one field that is not what it was.
type Difference struct {
	Path    string // as in metadata.labels["app"] or spec.finalizers[0]; "" is the whole
	Was, Is string // as JSON; "(absent)" if there is no such field
}

func (d Difference) String() string { return fmt.Sprintf("%s was %s and is %s", d.Path, d.Was, d.Is) }

// maxDifferences is how many differences are worth reading.
const maxDifferences = 20

const absent = "(absent)"

// diffJSON compares two JSON documents field by field. Texts that are no JSON are compared as a whole.
func diffJSON(was, is []byte) []Difference {
	before, errBefore := decodeAny(was)
	after, errAfter := decodeAny(is)
	if errBefore != nil || errAfter != nil {
		return []Difference{{Was: string(was), Is: string(is)}}
	}
	var d differ
	d.compare("", before, after)
	return d.found
}

// decodeAny keeps numbers as they are written, so that large ones do not become equal by rounding.
func decodeAny(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	err := decoder.Decode(&v)
	return v, err
}

type differ struct{ found []Difference }

func (d *differ) compare(path string, was, is any) {
	if len(d.found) == maxDifferences {
		return
	}
	switch before := was.(type) {
	case map[string]any:
		if after, ok := is.(map[string]any); ok {
			d.compareMaps(path, before, after)
			return
		}
	case []any:
		if after, ok := is.([]any); ok {
			d.compareSlices(path, before, after)
			return
		}
	default:
		if !isContainer(is) && was == is {
			return
		}
	}
	d.found = append(d.found, Difference{Path: path, Was: show(was), Is: show(is)})
}

// missing stands for a field that is not there, which is not the same as one that is null.
type missing struct{}

func (d *differ) compareMaps(path string, was, is map[string]any) {
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		d.compare(joinPath(path, key), get(was, key), get(is, key))
	}
}

func (d *differ) compareSlices(path string, was, is []any) {
	at := func(s []any, i int) any {
		if i < len(s) {
			return s[i]
		}
		return missing{}
	}
	for i := range max(len(was), len(is)) {
		d.compare(path+"["+strconv.Itoa(i)+"]", at(was, i), at(is, i))
	}
}

func get(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func show(v any) string {
	if v == (missing{}) {
		return absent
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // cannot happen: v came out of a decoder
	}
	return string(text)
}

func joinPath(path, key string) string {
	for i := range len(key) {
		if !isAlphanumeric(key[i]) {
			return path + "[" + strconv.Quote(key) + "]"
		}
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

package informer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// Difference is one changed field.
type Difference struct {
	Path    string // as in metadata.labels["app"] or spec.finalizers[0]; "" means the whole object
	Was, Is string // as JSON, without nested fields; "(absent)" if there is no such field
}

func (d Difference) String() string { return fmt.Sprintf("%s was %s and is %s", d.Path, d.Was, d.Is) }

// maxDifferences bounds the reported differences.
const maxDifferences = 20

const absent = "(absent)"

// diffJSON compares two JSON documents field by field. Other texts are compared as a whole.
func diffJSON(was, is []byte) (found []Difference) {
	before, after := map[string]string{}, map[string]string{}
	if flatten(before, was) != nil || flatten(after, is) != nil {
		return []Difference{{Was: string(was), Is: string(is)}}
	}
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		d := Difference{path, cmp.Or(before[path], absent), cmp.Or(after[path], absent)}
		if d.Was != d.Is && len(found) < maxDifferences {
			found = append(found, d)
		}
	}
	return found
}

// flatten adds the fields of a document to fields, each as JSON under its path; for objects and
// arrays only the kind.
func flatten(fields map[string]string, document []byte) error {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber() // rounding must not make large numbers equal
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	flattenValue(fields, "", v)
	return nil
}

func flattenValue(fields map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		fields[path] = "{…}"
		for key, value := range v {
			flattenValue(fields, joinPath(path, key), value)
		}
	case []any:
		fields[path] = "[…]"
		for i, value := range v {
			flattenValue(fields, fmt.Sprintf("%s[%d]", path, i), value)
		}
	default:
		text, _ := json.Marshal(v) // v came from a decoder
		fields[path] = string(text)
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9]+$`)

func joinPath(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

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

// Difference is one field that is not what it was.
type Difference struct {
	Path    string // as in metadata.labels["app"] or spec.finalizers[0]; "" is the whole
	Was, Is string // as JSON, without what is in it; "(absent)" if there is no such field
}

func (d Difference) String() string { return fmt.Sprintf("%s was %s and is %s", d.Path, d.Was, d.Is) }

// maxDifferences is how many differences are worth reading.
const maxDifferences = 20

const absent = "(absent)"

// diffJSON compares two JSON documents field by field. Texts that are no JSON are compared as a whole.
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

// flatten adds the fields of a document to fields, each as JSON under its path; of one that contains others only the kind.
func flatten(fields map[string]string, document []byte) error {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber() // large numbers must not become equal by rounding
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
		text, _ := json.Marshal(v) // it came out of a decoder
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

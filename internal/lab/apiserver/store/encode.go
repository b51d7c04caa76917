package store

import (
	"encoding/json"
	"slices"
)

// appendMembers appends ",name":value for each member of an object but those excepted, sorted by
// name, so that equal trees have equal encodings.
func appendMembers(dst []byte, object map[string]any, except ...string) []byte {
	var few [16]string // avoids an allocation for small objects
	names := few[:0]
	for name := range object {
		if !slices.Contains(except, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, err := json.Marshal(object[name])
		if err != nil {
			panic("store: " + name + " cannot be encoded: " + err.Error())
		}
		dst = appendString(append(dst, ','), name)
		dst = append(append(dst, ':'), value...)
	}
	return dst
}

func appendString(dst []byte, text string) []byte {
	encoded, _ := json.Marshal(text) // cannot fail for a string
	return append(dst, encoded...)
}

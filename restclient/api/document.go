package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// decodeDocument reads one JSON object into maps and slices, with whole numbers as int64 so that large ones
// (generations, timestamps) survive a round trip; float64 would round them above 2^53. A number that fits neither type
// stays a json.Number, which is written back as it came.
func decodeDocument(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("something follows the document")
	}
	for key, value := range object {
		object[key] = plainNumbers(value)
	}
	return object, nil
}

func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = plainNumbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = plainNumbers(inner)
		}
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if whole, err := v.Int64(); err == nil {
				return whole
			}
		} else if float, err := v.Float64(); err == nil {
			return float
		}
	}
	return value
}

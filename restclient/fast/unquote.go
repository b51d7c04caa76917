package fast

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// unquote reads a JSON string, or null as "". Those that every object of a metadata request has in common are not
// allocated again.
func unquote(raw []byte) (string, error) {
	switch {
	case string(raw) == `"PartialObjectMetadata"`:
		return "PartialObjectMetadata", nil
	case string(raw) == `"meta.k8s.io/v1"`:
		return "meta.k8s.io/v1", nil
	case len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"':
		return unquoteInner(raw[1 : len(raw)-1])
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}

// unquoteInner reads what is between the quotes. The common cases are done here, the others left to encoding/json.
func unquoteInner(inner []byte) (string, error) {
	plain, ascii := plainText(inner)
	switch {
	case plain && (ascii || utf8.Valid(inner)):
		return string(inner), nil
	case ascii || utf8.Valid(inner):
		if text, ok := unescape(inner); ok {
			return text, nil
		}
	}
	quoted := append(append([]byte{'"'}, inner...), '"')
	var text string
	err := json.Unmarshal(quoted, &text)
	return text, err
}

// plainText reports whether a string stands for itself: no escape, no control character, no quote. ascii is only
// meaningful up to where it stopped being plain.
func plainText(text []byte) (plain, ascii bool) {
	high := byte(0)
	for _, c := range text {
		if c < 0x20 || c == '\\' || c == '"' {
			return false, false
		}
		high |= c
	}
	return true, high < 0x80
}

// simpleEscapes are the escapes of two characters.
var simpleEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescape undoes the simple escapes; ok is false for everything else that is not plain.
func unescape(inner []byte) (text string, ok bool) {
	out := make([]byte, 0, len(inner))
	for {
		slash := bytes.IndexByte(inner, '\\')
		run := inner
		if slash >= 0 {
			run = inner[:slash]
		}
		if plain, _ := plainText(run); !plain {
			return "", false
		}
		out = append(out, run...)
		if slash < 0 {
			return string(out), true
		}
		if slash+1 == len(inner) || simpleEscapes[inner[slash+1]] == 0 {
			return "", false
		}
		out = append(out, simpleEscapes[inner[slash+1]])
		inner = inner[slash+2:]
	}
}

package apiserver

import (
	"bytes"
	"encoding/json"
)

// indented is a document for people to read. prefix stands in front of all its lines but the first.
func indented(document []byte, prefix string) []byte {
	if bloats(document) {
		return document
	}
	var out bytes.Buffer
	json.Indent(&out, document, prefix, "  ")
	return out.Bytes()
}

// mostSpace is how many bytes of indentation a document may get. One that is nested a few thousand times would get gigabytes.
const mostSpace = 16 << 20

// bloats tells whether a document is nested so deeply that nobody can want it indented.
func bloats(document []byte) bool {
	space, depth := 0, 0
	for i := 0; i < len(document); i++ {
		switch document[i] {
		case '"':
			for i++; i < len(document) && document[i] != '"'; i++ {
				if document[i] == '\\' {
					i++
				}
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
		default:
			continue
		}
		if space += 2 * depth; space > mostSpace {
			return true
		}
	}
	return false
}

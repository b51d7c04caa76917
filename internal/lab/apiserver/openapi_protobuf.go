package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// openAPIV2Protobuf are the names of the protobuf form of the older document. kubectl asks for no other: when it meets a kind
// that the newer documents lack, before it says so.
var openAPIV2Protobuf = []string{"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"}

// The fields of the protobuf form that are sent, by number (openapi_v2.Document and its Info).
const (
	documentSwagger protowire.Number = 1
	documentInfo    protowire.Number = 2
	documentPaths   protowire.Number = 8
	infoTitle       protowire.Number = 1
	infoVersion     protowire.Number = 2
)

// wantsProtobuf tells whether a client names the protobuf form first among those that it takes.
func wantsProtobuf(header http.Header) bool {
	first, _, _ := strings.Cut(header.Get("Accept"), ",")
	mediaType, _, _ := strings.Cut(first, ";")
	return slices.Contains(openAPIV2Protobuf, strings.ToLower(strings.TrimSpace(mediaType)))
}

// emptyOpenAPIV2 is the older document in protobuf with nothing in it. Every kind that this server knows is in the newer
// documents, where clients look first; whoever comes here learns that there is no more.
func emptyOpenAPIV2() []byte {
	info := appendText(appendText(nil, infoTitle, "Kubernetes"), infoVersion, emulated)
	document := appendText(nil, documentSwagger, "2.0")
	document = protowire.AppendBytes(protowire.AppendTag(document, documentInfo, protowire.BytesType), info)
	return protowire.AppendBytes(protowire.AppendTag(document, documentPaths, protowire.BytesType), nil)
}

func appendText(message []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, field, protowire.BytesType), text)
}

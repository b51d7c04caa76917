package api

// PartialObjectMetadata is an object of any kind of which only the head is wanted. The API server sends it when
// asked by Accept header, which spares decoding (and keeping) the body.
type PartialObjectMetadata struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
}

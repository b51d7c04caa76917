package api

// PartialObjectMetadata is an object of any kind of which only the head is wanted. The API server sends it when
// asked by Accept header, which spares decoding (and keeping) the body.
type PartialObjectMetadata struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (p *PartialObjectMetadata) DeepCopy() *PartialObjectMetadata {
	return &PartialObjectMetadata{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta.DeepCopy()}
}

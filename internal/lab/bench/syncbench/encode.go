package syncbench

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient/api"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// headJSON returns the pod's head in JSON.
func headJSON(p *Pod) []byte {
	head := api.PartialObjectMetadata{
		TypeMeta: api.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: api.ObjectMeta{
			Name: p.Name, GenerateName: p.GenerateName, Namespace: p.Namespace,
			UID: p.UID, ResourceVersion: p.ResourceVersion, Generation: p.Generation,
			CreationTimestamp: api.NewTime(time.Unix(p.Created, 0)), Labels: p.Labels, Annotations: p.Annotations,
		},
	}
	for _, o := range p.Owners {
		head.OwnerReferences = append(head.OwnerReferences, api.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID,
			Controller: &o.Controller, BlockOwnerDeletion: &o.BlockOwnerDeletion,
		})
	}
	head.ManagedFields = api.NewManagedFields(mustMarshal(p.Managers))
	return mustMarshal(head)
}

func mustMarshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot fail for generated pods
	}
	return text
}

// appendProtobuf appends the pod's head as a PartialObjectMetadata message. The field numbers are
// those of apimachinery's generated.proto.
func appendProtobuf(b []byte, p *Pod) []byte {
	var meta []byte
	meta = appendString(meta, 1, p.Name)
	meta = appendString(meta, 2, p.GenerateName)
	meta = appendString(meta, 3, p.Namespace)
	meta = appendString(meta, 4, "") // the self link is written even if empty
	meta = appendString(meta, 5, p.UID)
	meta = appendString(meta, 6, p.ResourceVersion)
	meta = protowire.AppendTag(meta, 7, protowire.VarintType)
	meta = protowire.AppendVarint(meta, uint64(p.Generation))
	meta = appendMessage(meta, 8, timestamp(p.Created))
	meta = appendMapProtobuf(meta, 11, p.Labels)
	meta = appendMapProtobuf(meta, 12, p.Annotations)
	for _, o := range p.Owners {
		var owner []byte
		owner = appendString(owner, 1, o.Kind)
		owner = appendString(owner, 3, o.Name)
		owner = appendString(owner, 4, o.UID)
		owner = appendString(owner, 5, o.APIVersion)
		owner = append(protowire.AppendTag(owner, 6, protowire.VarintType), flag(o.Controller))
		owner = append(protowire.AppendTag(owner, 7, protowire.VarintType), flag(o.BlockOwnerDeletion))
		meta = appendMessage(meta, 13, owner)
	}
	for _, m := range p.Managers {
		var entry []byte
		entry = appendString(entry, 1, m.Name)
		entry = appendString(entry, 2, m.Operation)
		entry = appendString(entry, 3, m.APIVersion)
		entry = appendMessage(entry, 4, timestamp(m.Time.Unix()))
		entry = appendString(entry, 6, m.FieldsType)
		entry = appendMessage(entry, 7, appendString(nil, 1, string(m.Fields)))
		entry = appendString(entry, 8, m.Subresource)
		meta = appendMessage(meta, 17, entry)
	}
	return appendMessage(b, 1, meta)
}

func timestamp(seconds int64) []byte {
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(seconds))
	return append(protowire.AppendTag(b, 2, protowire.VarintType), 0)
}

func appendMapProtobuf(b []byte, number protowire.Number, m map[string]string) []byte {
	for _, key := range sortedKeys(m) {
		b = appendMessage(b, number, appendString(appendString(nil, 1, key), 2, m[key]))
	}
	return b
}

func appendString(b []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendMessage(b []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), message)
}

// envelope returns the beginning and the end of the envelope in which kube-apiserver sends a
// message: four magic bytes, and a runtime.Unknown that names the kind. The message itself, of the
// given size, belongs between head and tail.
func envelope(apiVersion, kind string, size int) (head, tail []byte) {
	head = append(head, 'k', '8', 's', 0)
	head = appendMessage(head, 1, appendString(appendString(nil, 1, apiVersion), 2, kind))
	head = protowire.AppendTag(head, 2, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(size))
	return head, appendString(appendString(nil, 3, ""), 4, "")
}

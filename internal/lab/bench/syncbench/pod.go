package syncbench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"
)

// Pod is the head of a pod as plain data, neither side's type: what the generator makes up, and what a subject says is in
// its cache.
type Pod struct {
	Name, GenerateName, Namespace string
	UID, ResourceVersion          string
	Generation                    int64
	Created                       int64 // seconds since 1970
	Labels, Annotations           map[string]string
	Owners                        []Owner
	Managers                      []Manager
}

// Owner is an owner reference.
type Owner struct {
	APIVersion, Kind, Name, UID    string
	Controller, BlockOwnerDeletion bool
}

// Manager is an entry of the managed fields.
type Manager struct {
	Name        string          `json:"manager"`
	Operation   string          `json:"operation"`
	APIVersion  string          `json:"apiVersion"`
	Time        time.Time       `json:"time"`
	FieldsType  string          `json:"fieldsType"`
	Fields      json.RawMessage `json:"fieldsV1"`
	Subresource string          `json:"subresource,omitempty"`
}

// Digest is a number for the content of any number of pods in any order. The zero value is that of none.
type Digest struct {
	// Pods is how many there were.
	Pods int `json:"pods"`
	// Low and High are the sums of the two halves of the first sixteen bytes of each pod's hash.
	Low  uint64 `json:"low"`
	High uint64 `json:"high"`

	buffer []byte
}

// Add adds a pod.
func (d *Digest) Add(p *Pod) {
	d.buffer = p.append(d.buffer[:0])
	hash := sha256.Sum256(d.buffer)
	d.Pods++
	d.Low += binary.LittleEndian.Uint64(hash[:8])
	d.High += binary.LittleEndian.Uint64(hash[8:16])
}

// append writes everything that a cache keeps of the pod, each part after its length, so that no two pods look the same. Managed
// fields are sent, and not kept.
func (p *Pod) append(b []byte) []byte {
	b = appendTexts(b, p.Name, p.GenerateName, p.Namespace, p.UID, p.ResourceVersion)
	b = binary.AppendVarint(b, p.Generation)
	b = binary.AppendVarint(b, p.Created)
	b = appendMap(b, p.Labels)
	b = appendMap(b, p.Annotations)
	b = binary.AppendUvarint(b, uint64(len(p.Owners)))
	for _, o := range p.Owners {
		b = appendTexts(b, o.APIVersion, o.Kind, o.Name, o.UID)
		b = append(b, flag(o.Controller), flag(o.BlockOwnerDeletion))
	}
	return b
}

func appendMap(b []byte, m map[string]string) []byte {
	keys := make([]string, 0, 16)
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b = binary.AppendUvarint(b, uint64(len(keys)))
	for _, key := range keys {
		b = appendTexts(b, key, m[key])
	}
	return b
}

func appendTexts(b []byte, texts ...string) []byte {
	for _, text := range texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

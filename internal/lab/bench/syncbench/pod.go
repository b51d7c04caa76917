package syncbench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"orrery/restclient/api"
)

// Pod is the head of a pod as plain data, independent of both sides' types: the output of the
// generator and the content of a cache.
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

// Digest summarises the content of a set of pods, regardless of order. The zero value is that of
// the empty set.
type Digest struct {
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Low and High are the sums of the two halves of the first sixteen bytes of each pod's hash.
	Low  uint64 `json:"low"`
	High uint64 `json:"high"`
}

// Add adds everything that a cache keeps of a pod, so not the managed fields.
func (d *Digest) Add(p *Pod) {
	kept := *p
	kept.Managers = nil
	hash := sha256.Sum256(mustMarshal(kept))
	d.Pods++
	d.Low += binary.LittleEndian.Uint64(hash[:8])
	d.High += binary.LittleEndian.Uint64(hash[8:16])
}

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

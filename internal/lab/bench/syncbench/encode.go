package syncbench

import (
	"encoding/json"
	"time"

	"orrery/restclient/api"
)

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

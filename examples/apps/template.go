package apps

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"strings"

	"orrery/restclient/api"
)

// TemplateHashLabel keeps the pods of two sets apart. It is in the labels and the selector of each
// set of a deployment, and in the labels of its pods.
const TemplateHashLabel = "pod-template-hash"

// PodTemplate is what pods are made from.
type PodTemplate struct {
	api.ObjectMeta `json:"metadata"`
	Spec           json.RawMessage `json:"spec"`
}

// PodFor returns the pod that the template describes, owned by an object.
func (t *PodTemplate) PodFor(owner Owner) *Pod {
	return &Pod{
		TypeMeta: api.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: api.ObjectMeta{
			GenerateName:    owner.Name + "-",
			Namespace:       owner.Namespace,
			Labels:          t.Labels,
			Annotations:     t.Annotations,
			Finalizers:      t.Finalizers,
			OwnerReferences: []api.OwnerReference{owner.Reference()},
		},
		Spec: PodSpec{Whole: t.Spec},
	}
}

// Equal reports whether two templates make the same pods. It ignores [TemplateHashLabel].
func (t *PodTemplate) Equal(other *PodTemplate) bool { return t.canonical() == other.canonical() }

// canonical returns the same text for equal templates.
func (t *PodTemplate) canonical() string {
	var spec any // as maps, whose keys are written in order
	_ = json.Unmarshal(t.Spec, &spec)
	labels := maps.Clone(t.Labels)
	delete(labels, TemplateHashLabel)
	text, _ := json.Marshal([]any{labels, t.Annotations, t.Finalizers, spec})
	return string(text)
}

// Hash returns a short hash of the template, for the name of a set. It has no vowels, so that it
// never spells a word.
func (t *PodTemplate) Hash() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	sum := fnv.New32a()
	sum.Write([]byte(t.canonical()))
	var text strings.Builder
	for rest := sum.Sum32(); rest > 0; rest /= uint32(len(letters)) {
		text.WriteByte(letters[rest%uint32(len(letters))])
	}
	return text.String()
}

// WithTemplateHash returns a copy of the labels with [TemplateHashLabel] set.
func WithTemplateHash(labels map[string]string, hash string) map[string]string {
	with := map[string]string{TemplateHashLabel: hash}
	for key, value := range labels {
		if key != TemplateHashLabel {
			with[key] = value
		}
	}
	return with
}

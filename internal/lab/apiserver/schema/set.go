package schema

import (
	_ "embed"
	"sync"

	"orrery/restclient/api"
)

// recorded has a definition a line; upstream/apiserver/schemarecorder writes it.
//
//go:embed builtin.jsonl
var recorded []byte

var builtin = sync.OnceValue(func() *Set {
	set, err := load(recorded)
	if err != nil {
		panic("the embedded types: " + err.Error()) // a defect of the build
	}
	return set
})

// Set is a collection of types. It does not change. The zero value is empty.
type Set struct {
	definitions map[string]*definition // by the published name
	types       map[string]*Type       // by the published name
	kinds       map[api.GroupVersionKind]string
}

// Builtin returns the types of Kubernetes that the server serves. They are read at the first call, which takes some
// milliseconds; every call returns the same set.
func Builtin() *Set { return builtin() }

// Type returns the type of the documents of a kind, false if the set does not have it.
func (s *Set) Type(gvk api.GroupVersionKind) (*Type, bool) {
	t, ok := s.types[s.kinds[gvk]]
	return t, ok
}

const (
	objectMetaName    = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	listMetaName      = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
	statusName        = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
	deleteOptionsName = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
	patchName         = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"
)

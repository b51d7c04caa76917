package chaos

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// contentOf returns the server's objects of a resource, by key.
func contentOf(server *store.Store, definition *resources.Definition, labels string) (map[string]*store.Object, error) {
	view, err := server.Collection(definition.Prefix).View(0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", definition.Plural, err)
	}
	label, value, _ := strings.Cut(labels, "=")
	content := map[string]*store.Object{}
	view.Ascend("", store.Key{}, func(o *store.Object) bool {
		if labels == "" || o.Labels[label] == value {
			content[o.Key.String()] = o
		}
		return true
	})
	return content, nil
}

// storeDiffers compares the versions in the informer's store with the server's.
func (s *watched[T]) storeDiffers(server map[string]State) (wrong []string) {
	have := map[string]State{}
	for _, o := range s.GetIndexer().List() {
		have[keyOf(o)] = StateOf(o)
	}
	for _, difference := range Compare(have, server) {
		wrong = append(wrong, fmt.Sprintf("store of %s: %s", s.made.Name, difference))
	}
	return wrong
}

// fieldsDiffer compares the fields in the informer's store with the server's for objects of the
// same version, as far as the informer's form has them.
func (s *watched[T]) fieldsDiffer(server map[string]*store.Object) []string {
	var wrong []string
	for key, want := range server {
		have, found := s.GetIndexer().GetByKey(key)
		if !found || StateOf(have).Version != want.Version {
			continue // it has changed since the versions were compared
		}
		if difference := differs(want, have); difference != "" {
			wrong = append(wrong, fmt.Sprintf("store of %s: %s (%s): %s", s.made.Name, key, StateOf(have), difference))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// differs compares an object with the server's object of the same version.
func differs(server *store.Object, have object) string {
	want := server.Decode()
	if !reflect.DeepEqual(want.GetLabels(), have.GetLabels()) && len(want.GetLabels())+len(have.GetLabels()) > 0 {
		return fmt.Sprintf("labels %v should be %v", have.GetLabels(), want.GetLabels())
	}
	switch have := have.(type) {
	case *api.Namespace:
		if phase := want.NestedString("status", "phase"); string(have.Status.Phase) != phase {
			return fmt.Sprintf("phase %s should be %s", have.Status.Phase, phase)
		}
	case *api.Unstructured:
		is := have.DeepCopy()
		delete(is.Object, "kind")
		delete(is.Object, "apiVersion")
		if !reflect.DeepEqual(want.Object, is.Object) {
			return fmt.Sprintf("%v should be %v", is.Object, want.Object)
		}
	}
	return ""
}

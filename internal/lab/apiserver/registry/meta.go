package registry

import (
	"crypto/rand"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// metadataOf returns the metadata of an object, made if there is none, to be changed in place.
func metadataOf(o *api.Unstructured) map[string]any {
	if o.Object == nil {
		o.Object = map[string]any{}
	}
	metadata, ok := o.Object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		o.Object["metadata"] = metadata
	}
	return metadata
}

// timestamp writes a moment as it is stored: UTC, whole seconds.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// newUID makes the identity of an object: a random UUID (version 4).
func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// generatedSuffix is what a server appends to metadata.generateName: five characters that neither make words nor are
// mistaken for one another.
func generatedSuffix() string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	var b [5]byte
	_, _ = rand.Read(b[:])
	for i, c := range b {
		b[i] = alphabet[int(c)%len(alphabet)]
	}
	return string(b[:])
}

const (
	// maximalBase is how much of metadata.generateName is used: with the suffix it makes a DNS label.
	maximalBase = 63 - 5
	// nameAttempts is how many names are made up before the server gives up (KEP-4420).
	nameAttempts = 8
)

// generateName returns a name that begins with base and has probably not been used.
func generateName(base string) string { return base[:min(len(base), maximalBase)] + generatedSuffix() }

// sameNamespace fills in the namespace of the path, or refuses an object that says another one: "If the Namespace of the
// resource being created, or updated does not match the Namespace on the request, then the API server will reject the
// request" (the design document, REST API).
func (t Target) sameNamespace(o *api.Unstructured) error {
	metadata := metadataOf(o)
	if !t.Definition.Namespaced {
		delete(metadata, "namespace")
		return nil
	}
	switch named, _ := metadata["namespace"].(string); named {
	case t.Namespace:
	case "":
		metadata["namespace"] = t.Namespace
	default:
		return apierrors.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// sameName refuses an object with another name than the one in the path.
func (t Target) sameName(o *api.Unstructured) error {
	switch name := o.GetName(); name {
	case t.Name:
		return nil
	case "":
		return apierrors.BadRequest(fmt.Sprintf(
			"the name of the object (%s based on URL) was undeterminable: name must be provided", t.Name))
	default:
		return apierrors.BadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", name, t.Name))
	}
}

// forget removes what this server does not keep from what a client sends.
func forget(metadata map[string]any) {
	for _, field := range []string{"selfLink", "managedFields"} {
		delete(metadata, field)
	}
}

// carry replaces a field by the old value, or removes it if there was none.
func carry(metadata, old map[string]any, field string) {
	if value, ok := old[field]; ok {
		metadata[field] = value
	} else {
		delete(metadata, field)
	}
}

// wholeNumber reads a number of an object.
func wholeNumber(value any) (int64, bool) {
	n, ok := value.(int64)
	return n, ok
}

package registry

import (
	"crypto/rand"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/managed"
	"orrery/restclient/api"
)

// metadataOf returns the metadata of an object to be changed in place, adding it if necessary.
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

// timestamp formats a time as objects store it: UTC, whole seconds.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// newUID returns a random UUID (version 4).
func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// generatedSuffix returns five random characters for metadata.generateName. The alphabet has no
// vowels and no characters that look alike.
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
	// maximalBase is how much of metadata.generateName is used: with the suffix it is a DNS label.
	maximalBase = 63 - 5
	// nameAttempts is how many names are tried before giving up (KEP-4420).
	nameAttempts = 8
)

func generateName(base string) string { return base[:min(len(base), maximalBase)] + generatedSuffix() }

// sameNamespace fills in the namespace of the path, or refuses an object with another one.
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

// written returns the write of a request for package managed.
func (t Target) written(w WriteOptions) managed.Write {
	write := managed.Write{
		Manager: w.FieldManager, Subresource: t.Subresource, Now: time.Now(),
		APIVersion: api.GroupVersion{Group: t.Definition.Group, Version: t.Version}.String(),
	}
	switch {
	case w.internal:
		write.Manager = "kube-apiserver"
	case t.Subresource == "status" && t.Definition.Custom:
		write.Ignored = []string{"metadata", "spec"}
	case t.Subresource == "status":
		write.Ignored = []string{"spec"}
	case t.Definition.Status:
		write.Ignored = []string{"status"}
	}
	return write
}

// carry copies a field from old, or removes it if old has none.
func carry(metadata, old map[string]any, field string) {
	if value, ok := old[field]; ok {
		metadata[field] = value
	} else {
		delete(metadata, field)
	}
}

func wholeNumber(value any) (int64, bool) {
	n, ok := value.(int64)
	return n, ok
}

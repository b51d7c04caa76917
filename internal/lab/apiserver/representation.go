package apiserver

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// representation is how the objects of a resource are written for a client: which kind, and in which version.
type representation struct {
	def  *resources.Definition
	form negotiation.Form
	// include is what the rows of a table carry of the objects, "" for their metadata.
	include string
}

func (r representation) apiVersion() string {
	if r.form.As != "" {
		return "meta.k8s.io/" + r.form.Version
	}
	return r.def.Resource().GroupVersion().String()
}

// appendObject appends an object, or its conversion, as one JSON document. What the store has encoded is copied; nothing is
// encoded again, except for the few types that have two forms.
func (r representation) appendObject(dst []byte, object *store.Object) []byte {
	switch r.form.As {
	case negotiation.Table:
		return r.table(dst, slices.Values([]*store.Object{object}), r.tableOptions(object.Version))
	case negotiation.PartialObjectMetadata, negotiation.PartialObjectMetadataList:
		return r.appendMetadata(dst, object)
	}
	if r.def.FromStorage != nil {
		return append(dst, r.translated(object, true)...)
	}
	return object.AppendJSON(dst, r.apiVersion(), r.def.Kind)
}

// appendItem appends an object as an item of a list. The items of a built-in list do not say what they are.
func (r representation) appendItem(dst []byte, object *store.Object) []byte {
	switch {
	case r.form.As != "":
		return r.appendMetadata(dst, object)
	case r.def.FromStorage != nil:
		return append(dst, r.translated(object, r.def.Custom)...)
	case r.def.Custom:
		return object.AppendJSON(dst, r.apiVersion(), r.def.Kind)
	}
	return append(dst, object.Body()...)
}

func (r representation) appendMetadata(dst []byte, object *store.Object) []byte {
	dst = append(dst, `{"kind":"PartialObjectMetadata","apiVersion":"`...)
	dst = append(dst, r.apiVersion()...)
	dst = append(dst, `","metadata":`...)
	dst = append(dst, object.Metadata()...)
	return append(dst, '}')
}

// translated is an object in the other of its two forms.
func (r representation) translated(object *store.Object, named bool) []byte {
	tree := object.Decode()
	r.def.FromStorage(tree)
	if named {
		tree.Object["kind"], tree.Object["apiVersion"] = r.def.Kind, r.apiVersion()
	}
	data, err := json.Marshal(tree)
	if err != nil { // it was encoded before
		panic(err)
	}
	return data
}

// table appends the table of some objects.
func (r representation) table(dst []byte, objects iter.Seq[*store.Object], options resources.TableOptions) []byte {
	return resources.Table(dst, r.def, objects, options)
}

func (r representation) tableOptions(version uint64) resources.TableOptions {
	return resources.TableOptions{
		APIVersion: r.apiVersion(), Include: r.include, ResourceVersion: strconv.FormatUint(version, 10),
	}
}

// head is the beginning of a list, up to its first item.
func (r representation) head(metadata api.ListMeta) []byte {
	kind := r.def.ListKind
	if r.form.As != "" {
		kind = string(negotiation.PartialObjectMetadataList)
	}
	var document any = metadata
	if r.def.Custom && r.form.As == "" {
		document = customListMeta{metadata.Continue, metadata.RemainingItemCount, metadata.ResourceVersion}
	}
	meta, err := json.Marshal(document)
	if err != nil { // strings and a number
		panic(err)
	}
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":[`, kind, r.apiVersion(), meta)
}

// customListMeta is api.ListMeta as it is written for custom resources.
type customListMeta struct {
	Continue           string `json:"continue"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
	ResourceVersion    string `json:"resourceVersion"`
}

// internalType is the Go type of the original that a refusal names.
func internalType(def *resources.Definition, list bool) string {
	kind := def.Kind
	if list {
		kind = def.ListKind
	}
	return "*" + internalPackage(def.Group) + "." + kind
}

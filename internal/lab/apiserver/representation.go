package apiserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// representation is how the objects of a resource are sent: the kind and the version.
type representation struct {
	def *resources.Definition
	// of is the resource; def differs for its scales.
	of   *resources.Definition
	form answerForm
	// include is what table rows contain of the objects; "" means their metadata.
	include string
}

func (r representation) apiVersion() string {
	if r.form.As != "" {
		return "meta.k8s.io/" + r.form.Version
	}
	return r.def.GroupVersion().String()
}

// appendObject appends one object in the negotiated form.
func (r representation) appendObject(dst []byte, object *store.Object) []byte {
	switch r.form.As {
	case asTable:
		return resources.Table(dst, r.def, slices.Values([]*store.Object{object}), r.tableOptions(object.Version))
	case asMetadata, asMetadataList:
		return resources.AppendMetadata(dst, r.apiVersion(), object)
	}
	return r.def.AppendObject(dst, object, true)
}

// appendItem appends an object as an item of a list. Items of built-in lists have no kind and
// apiVersion.
func (r representation) appendItem(dst []byte, object *store.Object) []byte {
	if r.form.As != "" {
		return resources.AppendMetadata(dst, r.apiVersion(), object)
	}
	return r.def.AppendObject(dst, object, r.def.Custom)
}

func (r representation) tableOptions(version uint64) resources.TableOptions {
	return resources.TableOptions{
		APIVersion: r.apiVersion(), Include: r.include, ResourceVersion: strconv.FormatUint(version, 10),
	}
}

// head returns the beginning of a list, up to its first item.
func (r representation) head(metadata api.ListMeta) []byte {
	kind := r.def.ListKind
	if r.form.As != "" {
		kind = string(asMetadataList)
	}
	var document any = metadata
	if r.def.Custom && r.form.As == "" {
		document = customListMeta{metadata.Continue, metadata.RemainingItemCount, metadata.ResourceVersion}
	}
	meta, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":[`, kind, r.apiVersion(), meta)
}

// customListMeta is api.ListMeta as custom resources encode it.
type customListMeta struct {
	Continue           string `json:"continue"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
	ResourceVersion    string `json:"resourceVersion"`
}

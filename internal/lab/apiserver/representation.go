package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/registry"
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
		return resources.ConvertedVersion
	}
	return r.def.GroupVersion().String()
}

// appendObject appends one object in the negotiated form.
func (r representation) appendObject(dst []byte, object *store.Object) []byte {
	switch r.form.As {
	case asTable:
		return resources.Table(dst, r.def, slices.Values([]*store.Object{object}), r.tableOptions(object.Version))
	case asMetadata, asMetadataList:
		return resources.AppendMetadata(dst, object)
	}
	return r.def.AppendObject(dst, object, true)
}

// appendItem appends an object as an item of a list. Items of built-in lists have no kind and
// apiVersion.
func (r representation) appendItem(dst []byte, object *store.Object) []byte {
	if r.form.As != "" {
		return resources.AppendMetadata(dst, object)
	}
	return r.def.AppendObject(dst, object, r.def.Custom)
}

func (r representation) tableOptions(version uint64) resources.TableOptions {
	return resources.TableOptions{Include: r.include, ResourceVersion: strconv.FormatUint(version, 10)}
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

func (x *exchange) serveList(t registry.Target, r representation) error {
	options, err := listOptions(x.query)
	if err != nil {
		return err
	}
	page, err := x.server.registry.List(t, options)
	if err != nil {
		return err
	}
	return x.sendPage(r, page)
}

// sendPage answers with a page of objects. A JSON list is streamed from the bytes in the store: a
// hundred thousand objects need a buffer of a few kilobytes.
func (x *exchange) sendPage(r representation, page *registry.Page) error {
	metadata := api.ListMeta{
		ResourceVersion: strconv.FormatUint(page.Version, 10), Continue: page.Continue,
		RemainingItemCount: page.Remaining,
	}
	switch {
	case r.form.As == asMetadata:
		return resources.NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list")
	case r.form.As == asTable:
		options := r.tableOptions(page.Version)
		options.Continue, options.Remaining = page.Continue, page.Remaining
		x.sendDocument(http.StatusOK, resources.Table(nil, r.def, slices.Values(page.Items), options))
	default:
		x.streamList(r, metadata, page)
	}
	return nil
}

// streamList sends a list as JSON.
func (x *exchange) streamList(r representation, metadata api.ListMeta, page *registry.Page) {
	if r.form.Pretty {
		var whole bytes.Buffer
		r.writeList(&whole, metadata, page)
		x.sendDocument(http.StatusOK, bytes.TrimSpace(whole.Bytes()))
		return
	}
	x.w.Header().Set("Content-Type", mediaJSON)
	x.w.WriteHeader(http.StatusOK)
	r.writeList(x.w, metadata, page)
}

// pieceSize is how much of a list or of the events of a watch is collected before a write.
const pieceSize = 32 << 10

// writeList writes a list. Errors mean that the client is gone.
func (r representation) writeList(out io.Writer, metadata api.ListMeta, page *registry.Page) error {
	buffer := r.head(metadata)
	for i, object := range page.Items {
		if i > 0 {
			buffer = append(buffer, ',')
		}
		buffer = r.appendItem(buffer, object)
		if len(buffer) >= pieceSize {
			if _, err := out.Write(buffer); err != nil {
				return err
			}
			buffer = buffer[:0]
		}
	}
	buffer = append(buffer, "]}\n"...)
	_, err := out.Write(buffer)
	return err
}

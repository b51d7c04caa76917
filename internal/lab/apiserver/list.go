package apiserver

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

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

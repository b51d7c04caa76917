package apiserver

import (
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// framing encodes the events of a watch in one buffer.
type framing struct {
	representation
	buffer []byte
	ends   []int // of the frames in buffer
	frames [][]byte
	// headed reports whether the columns of a table were sent.
	headed bool
}

// begin takes a buffer, and release returns it.
func (f *framing) begin(buffer []byte) { f.buffer, f.ends = buffer, f.ends[:0] }

func (f *framing) release() []byte {
	buffer := f.buffer[:0]
	f.buffer, f.frames = nil, f.frames[:0]
	clear(f.frames[:cap(f.frames)])
	return buffer
}

// add encodes an event.
func (f *framing) add(event registry.Event) {
	f.buffer = append(f.buffer, `{"type":"`...)
	f.buffer = append(f.buffer, event.Type...)
	f.buffer = append(f.buffer, `","object":`...)
	switch {
	case event.Type == api.WatchBookmark:
		f.appendBookmark(event)
	case f.form.As == negotiation.Table:
		options := f.tableOptions(event.Version)
		options.NoHeaders = f.headed
		f.headed = true
		f.buffer = f.table(f.buffer, single(event.Object), options)
	default:
		f.buffer = f.appendObject(f.buffer, event.Object)
	}
	f.buffer = append(f.buffer, "}\n"...)
	f.ends = append(f.ends, len(f.buffer))
}

// take returns the frames since the last take. They are valid until the next add.
func (f *framing) take() [][]byte {
	f.frames = f.frames[:0]
	start := 0
	for _, end := range f.ends {
		f.frames = append(f.frames, f.buffer[start:end])
		start = end
	}
	f.buffer, f.ends = f.buffer[:0], f.ends[:0]
	return f.frames
}

// appendBookmark encodes an object that has only a resourceVersion.
func (f *framing) appendBookmark(event registry.Event) {
	kind := f.def.Kind
	if f.form.As != "" {
		kind = string(negotiation.PartialObjectMetadata)
	}
	if f.form.As == negotiation.Table {
		f.buffer = append(f.buffer, `{"kind":"Table","apiVersion":"`...)
		f.buffer = append(f.buffer, f.apiVersion()...)
		f.buffer = append(f.buffer, `","metadata":{"resourceVersion":"`...)
		f.buffer = strconv.AppendUint(f.buffer, event.Version, 10)
		f.buffer = append(f.buffer, `"},"columnDefinitions":null,"rows":[{"cells":`...)
		f.buffer = append(append(f.buffer, f.emptyCells()...), `,"object":`...)
		defer func() { f.buffer = append(f.buffer, "}]}"...) }()
	}
	f.buffer = append(f.buffer, `{"kind":"`...)
	f.buffer = append(f.buffer, kind...)
	f.buffer = append(f.buffer, `","apiVersion":"`...)
	f.buffer = append(f.buffer, f.apiVersion()...)
	f.buffer = append(f.buffer, `","metadata":{"resourceVersion":"`...)
	f.buffer = strconv.AppendUint(f.buffer, event.Version, 10)
	f.buffer = append(f.buffer, '"')
	if event.InitialEventsEnd {
		f.buffer = append(f.buffer, `,"annotations":{"`+api.InitialEventsAnnotation+`":"true"}`...)
	}
	f.buffer = append(f.buffer, "}}"...)
}

// emptyCells returns the cells of an empty object.
func (f *framing) emptyCells() []byte {
	cells := []any{"", "<unknown>"}
	if f.def.Columns != nil {
		cells = cells[:0]
		for _, column := range f.def.Columns {
			cells = append(cells, column.Cell(&api.Unstructured{Object: map[string]any{}}, time.Now()))
		}
	}
	data, err := json.Marshal(cells)
	if err != nil {
		return []byte("[]")
	}
	return data
}

// errorFrame returns the ERROR event that ends a watch.
func errorFrame(refused *api.StatusError) []byte {
	frame := append([]byte(`{"type":"ERROR","object":`), encodeStatus(refused.Status)...)
	return append(frame, "}\n"...)
}

// single returns a sequence of one object.
func single(object *store.Object) iter.Seq[*store.Object] {
	return func(yield func(*store.Object) bool) { yield(object) }
}

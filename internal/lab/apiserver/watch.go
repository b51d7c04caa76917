package apiserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// A watch without a timeout lasts between minWatch and twice that, so that clients do not all
// reconnect at once. Bookmarks are sent about once a minute, and shortly before the end.
const (
	minWatch        = 30 * time.Minute
	bookmarkPeriod  = time.Minute
	bookmarkAdvance = 2 * time.Second
)

// serveWatch answers a watch on the goroutine of the request. It has no buffer: what a client does
// not read stays in the store's window, until the watch expires or the client is cut.
func (x *exchange) serveWatch(t registry.Target, r representation) error {
	options, err := listOptions(x.query)
	if err != nil {
		return err
	}
	if t.Name != "" { // the old path with a name
		options.FieldSelector += ",metadata.name=" + t.Name
		t.Name = ""
	}
	withoutState := x.query.Has("sendInitialEvents") && !options.SendInitialEvents // which differs from the default
	watch, err := x.server.registry.WatchFrom(t, options, withoutState)
	if err != nil {
		return err
	}
	cut := x.server.nextCut()
	connection := openStream(x.w, x.r)
	if connection == nil {
		return nil
	}
	w := &watching{
		exchange: x, representation: r, stream: connection, cut: cut, bookmarks: options.AllowWatchBookmarks,
	}
	w.watchFaults = watchFaults{set: x.server.faults, request: x.info.Request, interrupt: -1}
	if options.SendInitialEvents {
		w.interrupt = w.set.Interrupts(w.request)
	}
	x.server.inFlight.Add(-1)
	x.server.watches.Add(1)
	defer func() {
		x.server.watches.Add(-1)
		x.server.inFlight.Add(1)
	}()
	w.serve(watch, watchDuration(options.TimeoutSeconds))
	return nil
}

func watchDuration(seconds int64) time.Duration {
	const year = 365 * 24 * 60 * 60
	if seconds > 0 {
		return time.Duration(min(seconds, year)) * time.Second
	}
	return minWatch + rand.N(minWatch)
}

// watching is an open watch. It belongs to the goroutine of its request.
type watching struct {
	*exchange
	representation
	stream    eventStream
	cut       <-chan struct{}
	bookmarks bool
	// frames are the encoded events that are not sent yet, and size is their total length.
	frames [][]byte
	size   int
	// headed reports whether the columns of a table were sent.
	headed bool
	// silent simulates a half-open connection: nothing is sent, not even the end.
	silent bool
	// kept are fetched events that are not sent yet, because a fault holds them back.
	kept []registry.Event
	watchFaults
}

// serve sends events until the time is up or the watch ends otherwise.
func (w *watching) serve(watch *registry.Watch, duration time.Duration) {
	begun := time.Now()
	end := time.NewTimer(duration)
	defer end.Stop()
	bookmark := time.NewTimer(untilBookmark(duration))
	defer bookmark.Stop()
	for {
		more, goesOn := w.drain(watch)
		if !goesOn {
			return
		}
		var again <-chan time.Time
		if more == nil {
			again = time.After(holdPause)
		}
		select {
		case <-more:
		case <-again:
		case <-bookmark.C:
			if more != nil && !w.sendBookmark(watch) {
				return
			}
			bookmark.Reset(untilBookmark(duration - time.Since(begun)))
		case <-end.C:
			if w.silent || w.server.faults.Active(faults.Silence) {
				w.stayHalfOpen()
				return
			}
			w.stream.End()
			return
		case <-w.stream.Gone():
			w.stream.Abort()
			return
		case <-w.server.ending:
			w.stream.End()
			return
		case <-w.cut:
			w.stream.Break()
			return
		}
	}
}

// untilBookmark returns the time until the next bookmark: about a minute, or less near the end.
func untilBookmark(left time.Duration) time.Duration {
	next := bookmarkPeriod - bookmarkPeriod/20 + rand.N(bookmarkPeriod/10)
	if last := left - bookmarkAdvance; last > 0 && last < next {
		return last
	}
	return next
}

// drain sends the pending events and reports whether the watch continues. more is the channel to
// wait on for further events, nil while a fault holds them.
func (w *watching) drain(watch *registry.Watch) (more <-chan struct{}, goesOn bool) {
	for {
		if w.held() {
			return nil, true
		}
		if events := w.kept; events != nil {
			w.kept = nil
			if !w.send(events) {
				return nil, false
			}
			continue
		}
		events, more, err := watch.Poll()
		refused, isRefusal := errors.AsType[*api.StatusError](err)
		switch {
		case isRefusal:
			w.fail(refused)
			return nil, false
		case err != nil: // the resource was removed
			w.stream.End()
			return nil, false
		case more != nil:
			return more, true
		}
		w.kept = events // a fault may hold them by now
	}
}

// send sends events in pieces of some kilobytes.
func (w *watching) send(events []registry.Event) bool {
	if w.silent = w.silent || w.server.faults.Active(faults.Silence); w.silent {
		return true
	}
	for i, event := range events {
		switch {
		case event.Type == api.WatchBookmark && !w.bookmarks && !event.InitialEventsEnd, w.withholds(event):
		case w.breaksAt(event):
			_ = w.stream.Send(w.frames) // if the client is gone there is nothing to interrupt
			w.stream.Break()
			return false
		default:
			w.add(event)
			w.repeat(event)
		}
		if w.size == 0 || w.size < pieceSize && i < len(events)-1 {
			continue
		}
		select { // before sending: a cut may come while a fault holds the events
		case <-w.cut:
			w.stream.Break()
			return false
		case <-w.server.ending:
			w.stream.End()
			return false
		default:
		}
		frames := w.frames
		w.frames, w.size = nil, 0
		if w.stream.Send(frames) != nil {
			w.stream.Abort()
			return false
		}
	}
	return true
}

// sendBookmark sends a bookmark if the watch is up to date.
func (w *watching) sendBookmark(watch *registry.Watch) bool {
	version, upToDate := watch.Progress()
	if !w.bookmarks || !upToDate {
		return true
	}
	return w.send([]registry.Event{{Type: api.WatchBookmark, Version: version}})
}

// fail ends the watch with an ERROR event.
func (w *watching) fail(refused *api.StatusError) {
	if w.silent || w.server.faults.Active(faults.Silence) {
		w.stayHalfOpen()
		return
	}
	frame := fmt.Sprintf(`{"type":"ERROR","object":%s}`+"\n", encodeStatus(refused.Status))
	if w.stream.Send([][]byte{[]byte(frame)}) != nil {
		w.stream.Abort()
		return
	}
	w.stream.End()
}

// stayHalfOpen keeps the connection open until the client gives up or the fault is removed.
func (w *watching) stayHalfOpen() {
	select {
	case <-w.stream.Gone():
	case <-w.cut:
		w.stream.Break()
		return
	case <-w.server.ending:
	}
	w.stream.Abort()
}

// add encodes an event.
func (w *watching) add(event registry.Event) {
	frame := fmt.Appendf(nil, `{"type":%q,"object":`, event.Type)
	switch {
	case event.Type == api.WatchBookmark:
		frame = append(frame, w.bookmark(event)...)
	case w.representation.form.As == asTable:
		options := w.tableOptions(event.Version)
		options.NoHeaders = w.headed
		w.headed = true
		frame = resources.Table(frame, w.def, slices.Values([]*store.Object{event.Object}), options)
	default:
		frame = w.appendObject(frame, event.Object)
	}
	frame = append(frame, "}\n"...)
	w.frames = append(w.frames, frame)
	w.size += len(frame)
}

// bookmark encodes an object that has only a resourceVersion.
func (r representation) bookmark(event registry.Event) string {
	kind, annotations := r.def.Kind, ""
	if r.form.As != "" {
		kind = string(asMetadata)
	}
	if event.InitialEventsEnd {
		annotations = `,"annotations":{"` + api.InitialEventsAnnotation + `":"true"}`
	}
	object := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"%s}}`,
		kind, r.apiVersion(), event.Version, annotations)
	if r.form.As != asTable {
		return object
	}
	return fmt.Sprintf(`{"kind":"Table","apiVersion":%q,"metadata":{"resourceVersion":"%d"},`+
		`"columnDefinitions":null,"rows":[{"cells":%s,"object":%s}]}`,
		r.apiVersion(), event.Version, r.emptyCells(), object)
}

// emptyCells returns the cells of an empty object.
func (r representation) emptyCells() []byte {
	var cells []any
	for _, column := range r.def.Columns {
		cells = append(cells, column.Cell(&api.Unstructured{Object: map[string]any{}}, time.Now()))
	}
	return encodeDocument(cells)
}

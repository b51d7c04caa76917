package apiserver

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/stream"
	"orrery/restclient/api"
)

// The times of a watch. One for which the client names no end gets one between shortestWatch and twice that, so that the
// reconnections of many clients spread out. Bookmarks come about once a minute, and shortly before the end.
const (
	shortestWatch   = 30 * time.Minute
	bookmarkPeriod  = time.Minute
	bookmarkAdvance = 2 * time.Second
)

// serveWatch answers a watch. The goroutine of the request is all that a watch has: it waits for events, and writes what the store
// has encoded. What a client does not read stays where it is, in the store's window, until the window moves on and the watch
// expires, or the client is cut.
func (x *exchange) serveWatch(t registry.Target) error {
	r, err := x.represent(t.Definition, negotiation.Rules{Stream: true})
	if err != nil {
		return err
	}
	options, err := listOptions(x.query)
	if err != nil {
		return err
	}
	if t.Name != "" { // the old form with a name in the path
		options.FieldSelector = and(options.FieldSelector, "metadata.name="+t.Name)
		t.Name = ""
	}
	begin := x.server.registry.Watch // sendInitialEvents=false is not the same as nothing said
	if x.query.Has("sendInitialEvents") && !options.SendInitialEvents {
		begin = x.server.registry.WatchChanges
	}
	watch, err := begin(t, options)
	expired := refusedAsExpired(err)
	if err != nil && expired == nil {
		return err
	}
	cut := x.server.cuts.next()
	connection := stream.Open(x.w, x.r)
	if connection == nil {
		return nil
	}
	w := &watching{
		exchange: x, stream: connection, frames: framing{representation: r},
		cut: cut, bookmarks: options.AllowWatchBookmarks,
	}
	w.troubles = x.newTroubles(options.SendInitialEvents)
	x.server.inFlight.Add(-1)
	x.server.watches.Add(1)
	defer func() {
		x.server.watches.Add(-1)
		x.server.inFlight.Add(1)
	}()
	if expired != nil {
		w.fail(expired)
		return nil
	}
	w.serve(watch, watchDuration(options.TimeoutSeconds))
	return nil
}

func and(selector, more string) string {
	if selector == "" {
		return more
	}
	return selector + "," + more
}

// refusedAsExpired returns the refusal that a client is to see as an event and not as an answer: that history is gone is found out
// after a watch has begun.
func refusedAsExpired(err error) *api.StatusError {
	if refused, ok := errors.AsType[*api.StatusError](err); ok && api.IsExpired(err) {
		return refused
	}
	return nil
}

func watchDuration(seconds int64) time.Duration {
	const longest = 365 * 24 * time.Hour
	if seconds > 0 {
		return min(time.Duration(min(seconds, int64(longest/time.Second)))*time.Second, longest)
	}
	return shortestWatch + rand.N(shortestWatch)
}

// watching is a watch that has begun. It belongs to the goroutine of its request.
type watching struct {
	*exchange
	stream    stream.Stream
	frames    framing
	cut       <-chan struct{}
	bookmarks bool
	// silent: the connection is half-open, as a fault wants it. Nothing is sent any more, not even an end.
	silent bool
	// troubles are what faults do to the events.
	troubles
}

// serve sends events until the time is up or something ends the watch.
func (w *watching) serve(watch *registry.Watch, duration time.Duration) {
	begun := time.Now()
	end := time.NewTimer(duration)
	defer end.Stop()
	bookmark := time.NewTimer(untilBookmark(duration))
	defer bookmark.Stop()
	for {
		held := w.held()
		if !held && !w.drain(watch) {
			return
		}
		more, again := next(watch, held)
		select {
		case <-more:
		case <-again:
		case <-bookmark.C:
			if !held && !w.sendBookmark(watch) {
				return
			}
			bookmark.Reset(untilBookmark(duration - time.Since(begun)))
		case <-end.C:
			if w.silent || w.server.faults.Silent() {
				w.lie()
				return
			}
			w.stream.End()
			return
		case <-w.stream.Gone():
			w.close()
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

// untilBookmark is how long the next bookmark is away: about a minute, and less if the end is nearer.
func untilBookmark(left time.Duration) time.Duration {
	next := bookmarkPeriod - bookmarkPeriod/20 + rand.N(bookmarkPeriod/10)
	if last := left - bookmarkAdvance; last > 0 && last < next {
		return last
	}
	return next
}

// ended is a context that has ended: Next with it does not wait.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// drain sends the events that are there, and tells whether the watch goes on.
func (w *watching) drain(watch *registry.Watch) bool {
	for {
		events, err := watch.Next(ended)
		refused, isRefusal := errors.AsType[*api.StatusError](err)
		switch {
		case errors.Is(err, context.Canceled):
			return true
		case isRefusal:
			w.fail(refused)
			return false
		case err != nil: // the resource has been removed
			w.stream.End()
			return false
		}
		if !w.send(events) {
			return false
		}
	}
}

// send sends events, some kilobytes at a time.
func (w *watching) send(events []registry.Event) bool {
	if w.silent = w.silent || w.server.faults.Silent(); w.silent {
		return true
	}
	piece := pieces.Get().(*[]byte)
	defer keepPiece(piece)
	w.frames.begin((*piece)[:0])
	defer func() { *piece = w.frames.release() }()
	for i, event := range events {
		if event.Type == api.WatchBookmark && !w.bookmarks && !event.InitialEventsEnd {
			continue
		}
		if w.withholds(event) {
			continue
		}
		if w.breaksAt(event) {
			_ = w.stream.Send(w.frames.take()) // if the client is gone nobody is interrupted
			w.stream.Break()
			return false
		}
		w.frames.add(event)
		w.repeat(event)
		if len(w.frames.buffer) < pieceSize && i < len(events)-1 {
			continue
		}
		if err := w.stream.Send(w.frames.take()); err != nil {
			w.server.noteCut(err)
			w.close()
			return false
		}
		select {
		case <-w.cut:
			w.stream.Break()
			return false
		case <-w.server.ending:
			w.stream.End()
			return false
		default:
		}
	}
	return true
}

// sendBookmark tells the client how far it is, if that is known.
func (w *watching) sendBookmark(watch *registry.Watch) bool {
	version, upToDate := watch.Progress()
	if !w.bookmarks || !upToDate {
		return true
	}
	return w.send([]registry.Event{{Type: api.WatchBookmark, Version: version}})
}

// fail tells the client why the watch ends.
func (w *watching) fail(refused *api.StatusError) {
	if w.silent || w.server.faults.Silent() {
		w.lie()
		return
	}
	if err := w.stream.Send([][]byte{errorFrame(refused)}); err != nil {
		w.close()
		return
	}
	w.stream.End()
}

// close ends the watch of a client that is gone, or does not read.
func (w *watching) close() { w.stream.Abort() }

// lie keeps a half-open connection open until the client gives up, or somebody repairs the network.
func (w *watching) lie() {
	select {
	case <-w.stream.Gone():
	case <-w.cut:
		w.stream.Break()
		return
	case <-w.server.ending:
	}
	w.close()
}

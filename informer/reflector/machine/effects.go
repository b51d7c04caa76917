package machine

import (
	"math/rand/v2"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// performLocked performs the effects of a step in order. It reports whether one of them had an
// outcome, which is the next input.
func (r *Reflector[T]) performLocked() (more bool) {
	for i := range r.todo.n {
		if more = r.doLocked(&r.todo.list[i]); more {
			return true
		}
	}
	return false
}

func (r *Reflector[T]) doLocked(e *effect) (more bool) {
	switch e.kind {
	case effectApply:
		r.applyLocked()
	case effectMark:
		r.traceBookmarkLocked()
		if e.rv != "" {
			r.marks(e.rv)
		}
	case effectCollect:
		r.collectLocked()
	case effectKeepPage:
		r.keepPageLocked()
	case effectReplace:
		r.in = r.replaceLocked(e)
		return true
	case effectResync:
		return r.resyncLocked()
	case effectDraw:
		r.in = r.drawLocked(e)
		return true
	case effectOpen:
		e.options.TimeoutSeconds = r.drawTimeout(e.short)
		r.requestLocked(e)
	case effectList, effectRead, effectWait, effectHalt:
		r.requestLocked(e)
	case effectDiscard:
		r.collected = collection[T]{}
	case effectClose:
		r.closeLocked(e)
	default:
		r.tellLocked(e)
	}
	return false
}

// tellLocked performs the effects that only inform.
func (r *Reflector[T]) tellLocked(e *effect) {
	switch {
	case e.kind == effectReport:
		if r.ctx.Err() == nil { // after the end everything fails
			r.config.WatchErrorHandler(r.ctx, e.err)
		}
	case e.kind == effectNoteGone:
		r.trace.Expired(e.rv, e.err)
	case e.kind == effectNoteIdle:
		r.trace.IdleTimeout(e.lasted)
	case e.kind == effectNoteLister:
		r.trace.StreamingListAbandoned(e.err)
	}
}

// applyLocked passes the event to the store, which decides whether the object is new.
func (r *Reflector[T]) applyLocked() {
	event := &r.event
	r.traceEventLocked()
	var op reflector.StoreOp
	var err error
	switch event.Type {
	case api.WatchAdded:
		op, err = reflector.OpAdd, r.config.Store.Add(event.Object)
	case api.WatchModified:
		op, err = reflector.OpUpdate, r.config.Store.Update(event.Object)
	case api.WatchDeleted:
		op, err = reflector.OpDelete, r.config.Store.Delete(event.Object)
	}
	if err != nil {
		r.storeFailedLocked(op, event.ResourceVersion, err)
	}
}

func (r *Reflector[T]) traceBookmarkLocked() {
	r.trace.Bookmark(r.event.ResourceVersion, r.event.InitialEventsEnd)
}

func (r *Reflector[T]) traceEventLocked() {
	if r.trace.Event != nil {
		r.trace.Event(reflector.EventInfoOf(r.event))
	}
}

func (r *Reflector[T]) collectLocked() {
	event := &r.event
	r.traceEventLocked()
	key, err := r.config.KeyFunc(event.Object)
	if err != nil {
		r.storeFailedLocked(reflector.OpKey, event.ResourceVersion, err)
		return
	}
	switch event.Type {
	case api.WatchAdded, api.WatchModified:
		r.collected.put(key, event.Object)
	case api.WatchDeleted:
		r.collected.remove(key)
	}
}

func (r *Reflector[T]) keepPageLocked() {
	r.trace.PageListed(reflector.PageInfo{
		ResourceVersion: r.page.ResourceVersion,
		Page:            r.collected.pages + 1,
		Items:           len(r.page.Items),
		More:            r.page.Continue != "",
	})
	r.collected.addPage(r.page.Items)
}

func (r *Reflector[T]) replaceLocked(e *effect) input {
	if e.streamed {
		r.traceBookmarkLocked()
	}
	items := r.collected.take()
	count := len(items)
	if err := r.config.Store.Replace(items, e.rv); err != nil {
		r.storeFailedLocked(reflector.OpReplace, e.rv, err)
		return input{kind: inputReplaceFailed, err: err, cause: reflector.CauseOther}
	}
	r.trace.Listed(reflector.ListInfo{ResourceVersion: e.rv, Items: count, Pages: e.pages, Streamed: e.streamed,
		Duration: e.lasted})
	return input{kind: inputReplaced}
}

func (r *Reflector[T]) resyncLocked() (failed bool) {
	if r.config.ShouldResync != nil && !r.config.ShouldResync() {
		return false
	}
	err := r.config.Store.Resync()
	r.trace.Resync(err)
	if err == nil {
		return false
	}
	r.storeFailedLocked(reflector.OpResync, r.state.ResourceVersion, err)
	r.in = input{kind: inputResyncFailed, err: err, cause: reflector.CauseOther}
	return true
}

// drawLocked draws the length of a back-off: at least the server's Retry-After.
func (r *Reflector[T]) drawLocked(e *effect) input {
	if e.fresh {
		r.delays.Reset()
	}
	delay := max(r.delays.NextBackOff(), e.atLeast)
	r.trace.BackOff(delay, e.err)
	return input{kind: inputDelayDrawn, delay: delay}
}

// drawTimeout draws the time limit of a watch, in seconds, from [minWatch, 2 minWatch); for a short
// one at most seven to nine tenths of the idle timeout.
func (r *Reflector[T]) drawTimeout(short bool) int64 {
	chance := rand.Float64()
	limit := r.config.MinWatchTimeout.Seconds() * (1 + chance)
	if short {
		limit = min(limit, r.rules.silentIdle.Seconds()*(0.7+0.2*chance))
	}
	return max(1, int64(limit))
}

// closeLocked ends the stream, if one is open. An attempt to open one ends when requestLocked
// replaces it, in the same step.
func (r *Reflector[T]) closeLocked(e *effect) {
	if r.watcher == nil {
		return
	}
	r.watcher.Stop()
	r.watcher = nil
	r.trace.WatchEnded(reflector.WatchInfo{ResourceVersion: e.rv, Events: e.events, Lasted: e.lasted, Err: e.err})
}

// storeFailedLocked records an error of the store. After the end it records nothing: a program that
// stops a Reflector closes the store as well.
func (r *Reflector[T]) storeFailedLocked(op reflector.StoreOp, rv string, err error) {
	if r.ctx.Err() != nil {
		return
	}
	r.state.StoreErrors++
	r.state.LastStoreError = &reflector.StoreError{Name: r.rules.name, Op: op, ResourceVersion: rv, Err: err}
	r.trace.StoreFailed(r.state.LastStoreError)
}

// setTimerLocked makes keepTime call the machine at the given time.
func (r *Reflector[T]) setTimerLocked(at time.Duration) {
	r.ringsAt = at
	r.timer.Reset(at - time.Since(r.began))
}

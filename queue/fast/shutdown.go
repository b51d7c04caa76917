package fast

// ShutDown also drops the delayed keys: adding them now would retry too early. The controller finds
// them again when it next starts, because it lists every object.
func (q *Queue[K]) ShutDown() {
	_, dropped := q.shutDown(false)
	if q.trace != nil {
		call2(q.trace.ShuttingDown, false, dropped)
	}
}

// ShutDownWithDrain also waits for keys that were added while a worker held them. (client-go
// returns while others are still queued, kubernetes/kubernetes#141079.)
func (q *Queue[K]) ShutDownWithDrain() {
	shutdowns, dropped := q.shutDown(true)
	if q.trace != nil {
		call2(q.trace.ShuttingDown, true, dropped)
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	q.drainers++
	defer func() { q.drainers-- }()
	for !q.idleLocked() && q.shutdowns == shutdowns {
		q.idle.Wait()
	}
}

// shutDown returns the number of ShutDown calls so far, including this one, and of dropped delays.
func (q *Queue[K]) shutDown(drain bool) (shutdowns, dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !drain {
		q.shutdowns++
		q.idle.Broadcast()
	}
	if !q.shuttingDown {
		q.shuttingDown = true
		dropped = q.dropDelaysLocked()
		q.available.Broadcast()
	}
	return q.shutdowns, dropped
}

func (q *Queue[K]) dropDelaysLocked() int {
	dropped := q.delays.refs
	q.delays.refs = nil
	for _, ref := range dropped {
		r := q.records.At(ref)
		r.Value.delayPlace = 0
		q.forgetIfIdleLocked(ref, r)
	}
	if q.timer != nil {
		q.timer.Stop()
		q.alarm = never
	}
	return len(dropped)
}

// idleLocked reports whether a drain is complete.
func (q *Queue[K]) idleLocked() bool { return q.fifo.Len() == 0 && len(q.processing) == 0 }

func (q *Queue[K]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shuttingDown
}

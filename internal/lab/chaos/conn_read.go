package chaos

import (
	"bytes"
	"io"
	"os"
	"time"
)

// readAhead fills the queue until the connection ends.
func (c *conn) readAhead() {
	buffer := make([]byte, 16<<10)
	for {
		n, err := c.inner.Read(buffer)
		if !c.arrived(buffer[:n], err) {
			return
		}
	}
}

// arrived queues data and waits for room. It reports whether to continue.
func (c *conn) arrived(data []byte, err error) bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	f := &c.link.faults
	switch {
	case c.end != nil: // cut, closed or half-closed meanwhile
		return false
	case len(data) > 0 && (f.blackHole[Received] || c.dead[Received]):
		c.dead[Received] = true
	case len(data) > 0:
		due := time.Now().Add(f.delay)
		if due.Before(c.lastArrive) {
			due = c.lastArrive
		}
		c.lastArrive = due
		c.queue = append(c.queue, piece{bytes.Clone(data), due})
		c.size += len(data)
	}
	if err != nil {
		c.end = err
	}
	c.changed.Broadcast()
	for c.size >= readAheadLimit && c.end == nil {
		c.changed.Wait()
	}
	return c.end == nil
}

// Read returns received bytes.
func (c *conn) Read(p []byte) (int, error) {
	n, broke, err := c.read(p)
	if broke {
		c.cut()
	}
	return n, err
}

// read waits for bytes, and reports whether the allowance is used up.
func (c *conn) read(p []byte) (n int, broke bool, err error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	for {
		now := time.Now()
		if err := c.failedLocked("read"); err != nil {
			return 0, false, err
		}
		if !c.until.IsZero() && !now.Before(c.until) {
			return 0, false, os.ErrDeadlineExceeded
		}
		if len(p) == 0 {
			return 0, false, nil
		}
		at, ready := c.readyLocked(now)
		switch {
		case ready && len(c.queue) == 0:
			return 0, false, c.end
		case ready && c.allowanceLocked() == 0:
			return 0, true, c.resetError("read")
		case ready:
			n := c.takeLocked(p)
			return n, c.allowanceLocked() == 0, nil
		}
		c.wakeLocked(at)
		c.changed.Wait()
	}
}

// readyLocked reports whether bytes or the end can be read; if not, at is when to check again
// (zero: after a change).
func (c *conn) readyLocked(now time.Time) (at time.Time, ready bool) {
	f := &c.link.faults
	switch {
	case f.blackHole[Received], c.dead[Received], f.stall:
		return time.Time{}, false
	case len(c.queue) == 0:
		return time.Time{}, c.end != nil
	}
	at = c.queue[0].due
	return at, !at.After(now)
}

// takeLocked copies from the head of the queue, as much as the faults allow.
func (c *conn) takeLocked(p []byte) int {
	first := &c.queue[0]
	n := min(len(p), len(first.data))
	if c.link.faults.cutting {
		n = int(min(int64(n), c.allowance))
		c.allowance -= int64(n)
	}
	copy(p, first.data[:n])
	if first.data = first.data[n:]; len(first.data) == 0 {
		c.queue = c.queue[1:]
	}
	c.size -= n
	c.changed.Broadcast()
	return n
}

// allowanceLocked returns how many bytes may still be received; -1 means no limit.
func (c *conn) allowanceLocked() int64 {
	f := &c.link.faults
	if !f.cutting {
		return -1
	}
	if c.cutOrder != f.cutOrder {
		c.cutOrder, c.allowance = f.cutOrder, f.cutAfter
	}
	return c.allowance
}

// wakeLocked wakes waiting readers at the given time or at the deadline.
func (c *conn) wakeLocked(at time.Time) {
	if at.IsZero() || !c.until.IsZero() && c.until.Before(at) {
		at = c.until
	}
	if at.IsZero() {
		return
	}
	if c.alarm == nil {
		c.alarm = time.AfterFunc(time.Until(at), c.wake)
	} else {
		c.alarm.Reset(time.Until(at))
	}
}

// wake takes the lock, or a reader between its check and its Wait would miss the broadcast.
func (c *conn) wake() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.changed.Broadcast()
}

func (c *conn) halfCloseLocked() {
	if c.end == nil {
		c.end = io.EOF
	}
	c.changed.Broadcast()
}

// faultsChangedLocked wakes waiting readers after a change of the faults. In a black hole unread
// bytes vanish.
func (c *conn) faultsChangedLocked() {
	if c.link.faults.blackHole[Received] && c.size > 0 {
		c.dead[Received] = true
		c.queue, c.size = nil, 0
	}
	c.changed.Broadcast()
}

// isDead reports whether nothing can be received any more.
func (c *conn) isDead() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return c.dead[Received] || c.link.faults.blackHole[Received]
}

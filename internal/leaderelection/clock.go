package leaderelection

import "time"

// clock counts the time since its creation, unaffected by changes of the time of day. On Linux it
// stands still while the machine is suspended.
type clock struct{ began time.Time }

func newClock() *clock { return &clock{began: time.Now()} }

func (c *clock) now() time.Duration { return time.Since(c.began) }

func (c *clock) moment() moment { return moment{local: c.now(), wall: time.Now()} }

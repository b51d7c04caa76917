package main

import (
	"sync"
	"time"
)

// lastResort ends the program if it has not ended by itself in time. The zero value with an exit is ready.
type lastResort struct {
	// exit does not return in a program. It is told why the end had to come.
	exit func(why error)

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	over  bool
}

// within gives the program that long. Only the first call counts.
func (l *lastResort) within(limit time.Duration, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over && l.timer == nil {
		l.timer = time.AfterFunc(limit, func() { l.exit(why) })
	}
}

// disarm is called when the program is about to end by itself.
func (l *lastResort) disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

//go:build !linux

package load

import "time"

// alarm wakes a goroutine as soon as it can after the moment that it asked for. On these systems that is what time.Sleep
// does.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

func (*alarm) sleep(d time.Duration) { time.Sleep(d) }

package wait

import "time"

// timer is a time.Timer that takes its durations from a DelayFunc.
//
// There is no draining before Reset: since Go 1.23 a Reset or a Stop also
// takes back an expiry that nobody has received, so a tick of an earlier Arm
// is never seen after a later one.
type timer struct {
	delay DelayFunc
	timer *time.Timer
}

// Arm starts the next wait. It must be called before C.
func (t *timer) Arm() {
	d := t.delay()
	if t.timer == nil {
		t.timer = time.NewTimer(d)
		return
	}
	t.timer.Reset(d)
}

// C delivers once when the wait that Arm has started is over.
func (t *timer) C() <-chan time.Time { return t.timer.C }

// Stop releases the timer. Stopping one that was never armed is fine.
func (t *timer) Stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

package leaderelection

import (
	"time"

	"orrery/restclient/api"
)

// record is what a Lease says about who leads. Two records are equal if nobody has renewed in between.
type record struct {
	holder      string // empty: nobody
	seconds     int32
	acquired    int64 // microseconds; only ever compared for equality, since the clock is another machine's
	renewed     int64
	transitions int32
}

func recordOf(lease *api.Lease) record {
	spec := &lease.Spec
	r := record{holder: spec.HolderIdentity, acquired: micro(spec.AcquireTime), renewed: micro(spec.RenewTime)}
	if spec.LeaseDurationSeconds != nil {
		r.seconds = *spec.LeaseDurationSeconds
	}
	if spec.LeaseTransitions != nil {
		r.transitions = *spec.LeaseTransitions
	}
	return r
}

func micro(t *api.MicroTime) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMicro()
}

// duration is how long the holder asks to be left alone.
func (r record) duration() time.Duration { return time.Duration(r.seconds) * time.Second }

// isRecent tells whether the record was written less than a lease ago, as far as the clocks of two machines can be compared.
// Nothing that must be right may depend on it.
func (r record) isRecent(wall time.Time) bool {
	return time.UnixMicro(r.renewed).Sub(wall).Abs() < r.duration()
}

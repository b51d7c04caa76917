package leaderelection

import (
	"time"

	"orrery/restclient/api"
)

// record is the holder's part of a Lease. Two records are equal if there was no renewal in between.
type record struct {
	holder      string // "": none
	seconds     int32
	acquired    int64 // microseconds; compared only for equality, since the clock is another machine's
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

// duration returns the lease duration that the holder requested.
func (r record) duration() time.Duration { return time.Duration(r.seconds) * time.Second }

// silence returns the time since the last renewal if the lease has expired, else 0. It compares the
// clocks of two machines, and is for display only.
func (r record) silence(wall time.Time) time.Duration {
	if silent := wall.Sub(time.UnixMicro(r.renewed)); r.holder != "" && r.renewed != 0 && silent > r.duration() {
		return silent
	}
	return 0
}

// Term describes a term of leadership as it begins.
type Term struct {
	// Identity is ours.
	Identity string
	// Since is the beginning of the term, by our clock.
	Since time.Time
	// Transitions is the number of changes of the holder.
	Transitions int
	// Predecessor is the last holder in the Lease, or "".
	Predecessor string
	// Silent is the time since the predecessor's last renewal, by its clock and ours. It is 0 if
	// the predecessor released the Lease, or was silent for no longer than its lease.
	Silent time.Duration
}

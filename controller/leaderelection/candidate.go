package leaderelection

import (
	"cmp"
	"time"

	"orrery/restclient/api"
)

// candidate holds what one participant knows about the Lease, and the rules of the election. It is
// pure: no goroutine, no clock, no I/O. Moments are arguments. Local ones have an arbitrary origin,
// on a clock that is never set, and are compared only with each other. wall is written to the Lease
// for people.
//
// Invariant: while leading, the Lease was this candidate's when the write sent at renewed took
// effect, and no replica that saw the write takes the Lease before renewed + LeaseDuration.
type candidate struct {
	// Immutable.
	identity  string
	name      string
	namespace string
	timing    Timing

	// lease is the Lease as last seen, or nil. record is its content, kept after a deletion, and
	// observed the local moment at which that content was first seen. predecessor is the other
	// replica that was last seen to hold it, and silent its silence when this one replaced it.
	lease       *api.Lease
	record      record
	observed    time.Duration
	predecessor string
	silent      time.Duration

	// leading: the last write succeeded, and nothing seen since contradicts it. renewed is the
	// local moment before that write was sent.
	leading bool
	renewed time.Duration
	// term describes the current term, see [Term].
	term Term
}

// requestKind is the verb of the next request.
type requestKind string

const (
	nothing requestKind = "" // the attempt is over
	get     requestKind = "get"
	create  requestKind = "create"
	update  requestKind = "update"
)

// request is one step of an attempt. The shell sends it and passes the answer to
// [candidate.answer].
type request struct {
	kind  requestKind
	lease *api.Lease // of create and update
	// giving: the request is part of a release.
	giving bool
}

// replyKind is the kind of an answer.
type replyKind int

const (
	granted  replyKind = iota // the answer contains a Lease
	notFound                  // the Lease does not exist
	conflict                  // another client has written
	failed                    // any other failure, or no answer: a write may have taken effect or not
)

// moment is now, on two clocks.
type moment struct {
	local time.Duration
	wall  time.Time
}

// begin starts an attempt to become or remain the leader. A leader updates the remembered Lease,
// which is one request instead of two; a standby reads first.
func (c *candidate) begin(now moment) request {
	if c.leading && c.lease != nil {
		return request{kind: update, lease: c.renewal(now)}
	}
	return request{kind: get}
}

// give starts the release of the Lease, so that the next leader need not wait.
func (c *candidate) give(now moment) request {
	switch {
	case !c.leading:
		return request{}
	case c.lease == nil:
		return request{kind: get, giving: true}
	}
	return request{kind: update, lease: c.released(now), giving: true}
}

// answer takes the reply to a request sent at the local moment sent, and returns the next request.
// A write that another client's write has prevented is followed by a read.
func (c *candidate) answer(r request, reply replyKind, lease *api.Lease, sent time.Duration, now moment) request {
	switch {
	case reply == granted && r.kind == get:
		c.observe(lease, now)
		return c.decide(r.giving, now)
	case reply == granted && r.giving:
		c.observe(lease, now)
		c.leading = false
	case reply == granted:
		c.won(lease, sent, now)
	case reply == notFound && r.kind == get:
		c.lease = nil
		return c.missing(r.giving, now)
	case reply == conflict, reply == notFound && r.kind == update:
		return request{kind: get, giving: r.giving}
	}
	return request{}
}

// decide returns the request that follows from a Lease just read.
func (c *candidate) decide(giving bool, now moment) request {
	ours := c.record.holder == c.identity
	switch {
	case ours && giving:
		return c.give(now)
	case ours, !c.leading && c.mayTake(now.local):
		return request{kind: update, lease: c.renewal(now)}
	}
	// If we led, another replica holds it now, or a person removed our name. Either way another
	// replica may begin at any moment.
	c.leading = false
	return request{}
}

// missing returns the request that follows if there is no Lease. A leader creates it again; a
// standby waits until it would have expired.
func (c *candidate) missing(giving bool, now moment) request {
	switch {
	case giving:
		c.leading = false
	case c.leading, c.mayTake(now.local):
		return request{kind: create, lease: c.renewal(now)}
	}
	return request{}
}

// mayTake reports whether the Lease is free, as far as this candidate knows.
func (c *candidate) mayTake(now time.Duration) bool {
	return c.record.holder == "" || c.record.holder == c.identity || now >= c.expiry()
}

// expiry returns the local moment at which the lease expires. Clocks of machines are not compared:
// only the time without a change, on our clock, counts.
func (c *candidate) expiry() time.Duration { return c.observed + c.record.duration() }

// observe records the state of the Lease and when it was first seen.
func (c *candidate) observe(lease *api.Lease, now moment) {
	c.lease = lease
	next := recordOf(lease)
	if next == c.record {
		return
	}
	if next.holder != c.identity {
		c.predecessor = cmp.Or(next.holder, c.predecessor)
	} else if c.record.holder != c.identity {
		c.silent = c.record.silence(now.wall)
	}
	c.record, c.observed = next, now.local
}

// won records that a write of ours took effect. It counts from the moment before the write was
// sent, because the others cannot have seen it earlier.
func (c *candidate) won(lease *api.Lease, sent time.Duration, now moment) {
	c.observe(lease, now)
	if !c.leading {
		c.term = Term{c.identity, int(c.record.transitions), c.predecessor, c.silent}
	}
	c.leading, c.renewed = true, sent
}

// renewal returns the Lease as this candidate writes it. Other fields are kept.
func (c *candidate) renewal(now moment) *api.Lease {
	stamp, seconds, transitions := api.NewMicroTime(now.wall), c.timing.leaseSeconds(), int32(0)
	if c.lease == nil {
		lease := &api.Lease{TypeMeta: api.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}}
		lease.Name, lease.Namespace = c.name, c.namespace
		lease.Spec = api.LeaseSpec{HolderIdentity: c.identity, LeaseDurationSeconds: &seconds, AcquireTime: &stamp,
			RenewTime: &stamp, LeaseTransitions: &transitions}
		return lease
	}
	lease := c.lease.DeepCopy()
	spec := &lease.Spec
	transitions = recordOf(lease).transitions
	if spec.HolderIdentity != c.identity {
		transitions++
		spec.AcquireTime = &stamp
	}
	spec.HolderIdentity, spec.LeaseDurationSeconds, spec.RenewTime, spec.LeaseTransitions = c.identity, &seconds,
		&stamp, &transitions
	return lease
}

// released returns the Lease without a holder.
func (c *candidate) released(now moment) *api.Lease {
	lease := c.lease.DeepCopy()
	stamp, second := api.NewMicroTime(now.wall), int32(1)
	lease.Spec.HolderIdentity = ""
	lease.Spec.LeaseDurationSeconds, lease.Spec.AcquireTime, lease.Spec.RenewTime = &second, &stamp, &stamp
	return lease
}

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

// silent returns the time since the last renewal. It compares the clocks of two machines, and is
// for display only.
func (r record) silent(wall time.Time) time.Duration {
	if r.renewed == 0 {
		return 0
	}
	return wall.Sub(time.UnixMicro(r.renewed))
}

// silence returns the time since the last renewal if the lease has expired, else 0.
func (r record) silence(wall time.Time) time.Duration {
	if silent := r.silent(wall); r.holder != "" && silent > r.duration() {
		return silent
	}
	return 0
}

// Term describes a term of leadership as it begins.
type Term struct {
	// Identity is ours.
	Identity string
	// Transitions is the number of changes of the holder.
	Transitions int
	// Predecessor is the last holder in the Lease, or "".
	Predecessor string
	// Silent is the time since the predecessor's last renewal, by its clock and ours. It is 0 if
	// the predecessor released the Lease, or was silent for no longer than its lease.
	Silent time.Duration
}

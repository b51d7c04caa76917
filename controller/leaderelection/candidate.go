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
	// observed the local moment at which that content was first seen.
	lease    *api.Lease
	record   record
	observed time.Duration

	// looked: something has been observed. changed: the record is not the first one observed.
	// predecessor is the other replica that was last seen to hold the Lease, and parting what the
	// Lease said then.
	looked      bool
	changed     bool
	predecessor string
	parting     record

	// leading: the last write succeeded, and nothing seen since contradicts it. renewed is the
	// local moment before that write was sent.
	leading bool
	renewed time.Duration
	// unanswered is the kind of our last write without a clear answer: it may have taken effect, or
	// may do so later. A later answer settles it, and then it is nothing.
	unanswered requestKind
	// term describes the current term, see [Term].
	term Term
}

// requestKind is the kind of the next request.
type requestKind int

const (
	nothing requestKind = iota // the attempt is over
	get
	create
	update
)

// request is one step of an attempt. The shell sends it and passes the answer to
// [candidate.answer].
type request struct {
	kind  requestKind
	lease *api.Lease // of create and update
	// optimistic: the update is based on the remembered Lease. On a conflict the Lease is read.
	optimistic bool
	// giving: the request is part of a release.
	giving bool
}

// replyKind is the kind of an answer.
type replyKind int

const (
	granted  replyKind = iota // the answer contains a Lease
	notFound                  // the Lease does not exist
	conflict                  // another client has written
	refused                   // the server has refused it, and nothing was written
	failed                    // any other failure, or no answer: the write may have taken effect or not
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
		return request{kind: update, lease: c.renewal(now), optimistic: true}
	}
	return request{kind: get}
}

// answer takes the reply to a request sent at the local moment sent, and returns the next request.
func (c *candidate) answer(r request, reply replyKind, lease *api.Lease, sent time.Duration, now moment) request {
	if reply == failed && r.kind != get {
		c.unanswered = r.kind
	}
	switch {
	case r.giving:
		return c.answerToGiving(r, reply, lease, now)
	case reply == granted && r.kind == get:
		c.observe(lease, now)
		return c.decide(now)
	case reply == granted:
		c.won(lease, sent, now)
	case reply == notFound && r.kind == get:
		return c.missing(now)
	case r.optimistic && (reply == conflict || reply == notFound), r.kind == create && reply == conflict:
		return request{kind: get}
	}
	return request{}
}

// decide returns the request that follows from a Lease just read.
func (c *candidate) decide(now moment) request {
	switch {
	case c.record.holder == c.identity:
		return request{kind: update, lease: c.renewal(now)}
	case c.leading:
		// Another replica holds it, or a person removed our name. Either way another replica may
		// begin at any moment.
		c.leading = false
	case c.mayTake(now.local):
		return request{kind: update, lease: c.renewal(now)}
	}
	c.unanswered = nothing // the Lease has changed since that write was sent, so it cannot take effect
	return request{}
}

// missing returns the request that follows if there is no Lease. A leader creates it again; a
// standby waits until it would have expired.
func (c *candidate) missing(now moment) request {
	c.lease = nil
	if c.leading || c.mayTake(now.local) {
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
	if writer := cmp.Or(next.holder, c.record.holder); writer != "" && writer != c.identity {
		c.predecessor, c.parting = writer, next
	}
	c.record, c.observed, c.looked, c.changed = next, now.local, true, c.looked
}

// silent returns how long ago the holder renewed, for people. A renewal that was not observed is
// counted by the holder's clock and ours.
func (c *candidate) silent(now moment) time.Duration {
	silent := now.local - c.observed
	switch {
	case c.leading:
		silent = now.local - c.renewed
	case !c.changed && c.record.renewed != 0:
		silent = max(silent, now.wall.Sub(time.UnixMicro(c.record.renewed)))
	}
	return silent
}

// won records that a write of ours took effect. It counts from the moment before the write was
// sent, because the others cannot have seen it earlier.
func (c *candidate) won(lease *api.Lease, sent time.Duration, now moment) {
	if !c.leading { // record may be ours already: the watch may be faster than the answer
		c.term = Term{
			Identity: c.identity, Since: now.wall, Transitions: int(recordOf(lease).transitions),
			Predecessor: c.predecessor, Silent: c.parting.silence(now.wall),
		}
	}
	c.lease, c.record, c.observed = lease, recordOf(lease), now.local
	c.leading, c.renewed, c.unanswered = true, sent, nothing
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

// give releases the Lease, so that the next leader need not wait. A candidate with an unanswered
// write may hold the Lease without knowing it, so it reads first.
func (c *candidate) give(now moment) request {
	switch {
	case c.leading && c.lease != nil:
		return c.released(now)
	case c.unanswered != nothing:
		return request{kind: get, giving: true}
	}
	return request{}
}

// released returns the write of the Lease without a holder.
func (c *candidate) released(now moment) request {
	r := request{kind: update, giving: true}
	if c.lease == nil {
		r.kind, r.lease = create, c.renewal(now)
	} else {
		r.lease = c.lease.DeepCopy()
	}
	stamp, second := api.NewMicroTime(now.wall), int32(1)
	r.lease.Spec.HolderIdentity = ""
	r.lease.Spec.LeaseDurationSeconds, r.lease.Spec.AcquireTime, r.lease.Spec.RenewTime = &second, &stamp, &stamp
	return r
}

// answerToGiving continues a release. An unanswered write may still be on its way when the Lease is
// read. A candidate that reads a Lease as the write expects it therefore writes it without a
// holder: then the server refuses the late write, because the resourceVersion has changed.
func (c *candidate) answerToGiving(r request, reply replyKind, lease *api.Lease, now moment) request {
	switch {
	case reply == granted && r.kind == get:
		c.observe(lease, now)
		if c.record.holder == c.identity || c.unanswered != nothing && c.mayTake(now.local) {
			return c.released(now)
		}
	case reply == granted:
		c.observe(lease, now)
	case reply == conflict:
		return request{kind: get, giving: true}
	case reply == notFound:
		c.lease = nil
		if c.unanswered == create && r.kind == get {
			return c.released(now)
		}
	default:
		return request{} // unknown: perhaps the Lease is still ours
	}
	c.leading, c.unanswered = false, nothing
	return request{}
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

package leaderelection

import (
	"cmp"
	"time"

	"orrery/restclient/api"
)

// candidate is what one participant knows of the Lease, and the rules by which it acts. It is pure: no goroutine, no clock,
// no I/O. Moments are handed in; local ones count from anywhere, on a clock that is never set, and are compared with each other
// only. wall is for the eyes of people who look at the Lease.
//
// Invariant: while leading, the Lease on the server was this candidate's when the write that was sent at renewed took
// effect, and nobody who saw that takes it before renewed + LeaseDuration.
type candidate struct {
	// Immutable.
	identity  string
	name      string
	namespace string
	timing    Timing

	// lease is the Lease as it was last seen, nil if there was none; record is what it said, also after it is gone, and
	// observed the local moment at which that was seen first.
	lease    *api.Lease
	record   record
	observed time.Duration

	// looked: something has been observed. witnessed: after that somebody else has written, or what was seen first was
	// written a moment ago. predecessor is who else was last seen to hold it, and worked whether it has said that it is at
	// work.
	looked      bool
	witnessed   bool
	predecessor string
	worked      bool

	// leading: the last write went well, and nothing has been seen since that says otherwise. renewed is the local
	// moment before that write was sent.
	leading bool
	renewed time.Duration
	// atWork is to be said with the next renewal, see [AtWorkAnnotation].
	atWork bool
	// term is what is to be said about the time in office that has begun, see [Term].
	term Term
}

// requestKind is what a candidate wants to be sent.
type requestKind int

const (
	nothing requestKind = iota // the attempt is over
	get
	create
	update
)

// request is one step of an attempt. The shell sends it and hands the answer to [candidate.answer].
type request struct {
	kind  requestKind
	lease *api.Lease // of create and update
	// optimistic: the update is built on what is remembered. If the server remembers something else the Lease is read.
	optimistic bool
	// giving: the update gives the Lease back.
	giving bool
}

// replyKind sorts what came back.
type replyKind int

const (
	granted  replyKind = iota // with a Lease
	notFound                  // there is no such Lease
	conflict                  // somebody else has written
	failed                    // anything else, also no answer at all: the write may or may not have taken effect
)

// moment is now, on two clocks.
type moment struct {
	local time.Duration
	wall  time.Time
}

// begin starts an attempt to become the leader, or to remain it. A leader writes on top of what it remembers, which is one
// request instead of two; everybody else reads first.
func (c *candidate) begin(now moment) request {
	if c.leading && c.lease != nil {
		return request{kind: update, lease: c.renewal(now), optimistic: true}
	}
	return request{kind: get}
}

// answer takes the reply to a request that was sent at the local moment sent, and returns what is to be sent next.
func (c *candidate) answer(r request, reply replyKind, lease *api.Lease, sent time.Duration, now moment) request {
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

// decide is what follows from a Lease that was read a moment ago.
func (c *candidate) decide(now moment) request {
	switch {
	case c.record.holder == c.identity:
		return request{kind: update, lease: c.renewal(now)}
	case c.leading:
		// Somebody else has it, or somebody has taken it from us by hand. Either way another one may begin any moment.
		c.leading = false
		return request{}
	case c.mayTake(now.local):
		return request{kind: update, lease: c.renewal(now)}
	}
	return request{}
}

// missing is what follows from there being no Lease. Who holds it has not stopped working because of that; a leader makes it
// anew, and for the others the time for which they leave him alone runs on.
func (c *candidate) missing(now moment) request {
	c.lease = nil
	if c.leading || c.mayTake(now.local) {
		return request{kind: create, lease: c.renewal(now)}
	}
	return request{}
}

// mayTake tells whether the Lease is free for all that this candidate knows.
func (c *candidate) mayTake(now time.Duration) bool {
	return c.record.holder == "" || c.record.holder == c.identity || now >= c.expiry()
}

// expiry is the local moment until which the holder is left alone. Clocks are not compared between machines: what counts is for
// how long, on this one, nothing has changed.
func (c *candidate) expiry() time.Duration { return c.observed + c.record.duration() }

// observe notes what the server shows, and when it was seen first.
func (c *candidate) observe(lease *api.Lease, now moment) {
	c.lease = lease
	next := recordOf(lease)
	if next == c.record {
		return
	}
	if writer := cmp.Or(next.holder, c.record.holder); writer != "" && writer != c.identity {
		c.witnessed, c.predecessor = c.looked || next.isRecent(now.wall), writer
		c.worked = lease.Annotations[AtWorkAnnotation] == writer
	}
	c.record, c.observed, c.looked = next, now.local, true
}

// won notes that a write of ours has taken effect. It counts from the moment before it was sent: the others cannot have
// seen it earlier.
func (c *candidate) won(lease *api.Lease, sent time.Duration, now moment) {
	if !c.leading {
		c.term = Term{
			Identity: c.identity, Since: now.wall, Transitions: int(recordOf(lease).transitions),
			Predecessor: c.predecessor, Witnessed: c.witnessed, Worked: c.worked,
		}
	}
	c.lease, c.record, c.observed = lease, recordOf(lease), now.local
	c.leading, c.renewed = true, sent
}

// renewal is the Lease as this candidate wants it to be. What does not concern it is left as it is.
func (c *candidate) renewal(now moment) *api.Lease {
	stamp, seconds, transitions := api.NewMicroTime(now.wall), c.timing.leaseSeconds(), int32(0)
	if c.lease == nil {
		lease := &api.Lease{TypeMeta: api.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}}
		lease.Name, lease.Namespace = c.name, c.namespace
		c.annotate(lease)
		lease.Spec = api.LeaseSpec{HolderIdentity: c.identity, LeaseDurationSeconds: &seconds, AcquireTime: &stamp, RenewTime: &stamp, LeaseTransitions: &transitions}
		return lease
	}
	lease := c.lease.DeepCopy()
	c.annotate(lease)
	spec := &lease.Spec
	transitions = recordOf(lease).transitions
	if spec.HolderIdentity != c.identity {
		transitions++
		spec.AcquireTime = &stamp
	}
	spec.HolderIdentity, spec.LeaseDurationSeconds, spec.RenewTime, spec.LeaseTransitions = c.identity, &seconds, &stamp, &transitions
	return lease
}

// annotate says whether this candidate works. What another one has said of itself is over.
func (c *candidate) annotate(lease *api.Lease) {
	delete(lease.Annotations, AtWorkAnnotation)
	if !c.atWork {
		return
	}
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[AtWorkAnnotation] = c.identity
}

// give starts to give the Lease back, so that the next one need not wait.
func (c *candidate) give(now moment) request {
	if !c.leading || c.lease == nil {
		return request{}
	}
	stamp, second := api.NewMicroTime(now.wall), int32(1)
	lease := c.lease.DeepCopy()
	lease.Spec.HolderIdentity = ""
	lease.Spec.LeaseDurationSeconds, lease.Spec.AcquireTime, lease.Spec.RenewTime = &second, &stamp, &stamp
	return request{kind: update, lease: lease, giving: true}
}

func (c *candidate) answerToGiving(r request, reply replyKind, lease *api.Lease, now moment) request {
	switch {
	case reply == granted && r.kind == get:
		c.observe(lease, now)
		if c.record.holder != c.identity {
			c.leading = false
			return request{}
		}
		return c.give(now)
	case reply == granted:
		c.observe(lease, now)
		c.leading = false
	case reply == conflict && r.kind == update:
		return request{kind: get, giving: true}
	case reply == notFound:
		c.lease, c.leading = nil, false
	}
	return request{}
}

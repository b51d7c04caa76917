package chaos

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// drawStorm draws the steps of all actors in a storm.
func (p *Plan) drawStorm(number string, length time.Duration) Storm {
	s := Storm{Length: length}
	act := func(actor string, mean time.Duration, do func(d dice, at time.Duration) []Step) {
		d := diceOf(p.Seed, "storm", number, actor)
		for at := d.pause(mean); at < length; at += max(d.pause(mean), time.Millisecond) {
			for _, step := range do(d, at) {
				step.Actor = actor
				s.Steps = append(s.Steps, step)
			}
		}
	}
	for writer, pace := range map[string]time.Duration{"writer-1": 700 * time.Millisecond,
		"writer-2": 1500 * time.Millisecond} {
		act(writer, pace, drawWrite)
	}
	act("bursts", 40*time.Second, drawBurst)
	act("namespaces", 8*time.Second, drawNamespace)
	if p.AllControllers {
		act("deployments", 3*time.Second, drawApps)
		act("machines", 4*time.Second, drawMachine)
		act("owners", time.Second, drawOwned)
		act("second-party", 5*time.Second, drawSecondParty)
		act("types", 50*time.Second, drawType)
	}
	act("server", 45*time.Second, drawRestart)
	act("api-faults", 6*time.Second, drawServerFault)
	for _, process := range p.Processes {
		act("link-"+process.Name, 12*time.Second, func(d dice, at time.Duration) []Step {
			return drawLinkFault(d, at, process.Name, p.TLS)
		})
		act("life-"+process.Name, 3*time.Minute, func(d dice, at time.Duration) []Step {
			return []Step{{At: at, What: Reborn, On: process.Name, Text: oneOf(d, "gently", "killed"),
				For: d.between(0, 10*time.Second)}}
		})
		for _, informer := range process.Informers {
			act("handlers-"+informer.Name, 50*time.Second, func(d dice, at time.Duration) []Step {
				return []Step{{At: at, What: oneOf(d, Join, Join, Leave), On: informer.Name, N: d.IntN(5)}}
			})
		}
	}
	// A step that ends a fault is not placed after the end of the storm, where all faults end.
	s.Steps = slices.DeleteFunc(s.Steps, func(step Step) bool { return step.At >= length })
	slices.SortStableFunc(s.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Actor, b.Actor))
	})
	return s
}

const (
	namespaceCount = 5
	nameCount      = 6
)

func drawObject(d dice) string {
	return fmt.Sprintf("%s/n%d/o%d",
		oneOf(d, "configmaps", "configmaps", "configmaps", "configmaps", "widgets", "widgets", "pods"),
		d.IntN(namespaceCount), d.IntN(nameCount))
}

func drawWrite(d dice, at time.Duration) []Step {
	s := Step{At: at, What: oneOf(d, Put, Put, Put, Put, Delete, Delete, Recreate, Release), On: drawObject(d),
		N: d.IntN(1 << 20)}
	if s.What == Put || s.What == Recreate {
		s.Text = oneOf(d, "tier=gold", "tier=lead", "", "", "large", "held")
	}
	return []Step{s}
}

// drawBurst draws many writes of a few objects in quick succession.
func drawBurst(d dice, at time.Duration) []Step {
	var steps []Step
	objects := []string{drawObject(d), drawObject(d), drawObject(d)}
	for range 10 + d.IntN(30) {
		at += d.between(0, 20*time.Millisecond)
		step := drawWrite(d, at)[0]
		step.On = oneOf(d, objects...)
		steps = append(steps, step)
	}
	return steps
}

func drawNamespace(d dice, at time.Duration) []Step {
	name := "namespaces//n" + strconv.Itoa(d.IntN(namespaceCount))
	switch d.IntN(8) {
	case 0, 1, 2:
		return []Step{{At: at, What: CreateNamespace, On: name, Text: oneOf(d, "", "", "", "held", "held-in-spec")}}
	case 3, 4:
		return []Step{{At: at, What: DeleteNamespace, On: name}}
	case 5: // recreated as soon as it may be gone
		return []Step{{At: at, What: DeleteNamespace, On: name},
			{At: at + d.between(5*time.Second, 9*time.Second), What: CreateNamespace, On: name}}
	case 6:
		return []Step{{At: at, What: Release, On: name}}
	default:
		return []Step{{At: at, What: Put, On: name, N: d.IntN(1 << 20), Text: oneOf(d, "", "tier=gold")}}
	}
}

func drawRestart(d dice, at time.Duration) []Step {
	return []Step{{
		At: at, What: Restart, Text: oneOf(d, "gently", "killed", "killed, history lost"),
		For: oneOf(d, 0, d.between(0, time.Second), d.between(time.Second, 20*time.Second)),
	}}
}

// drawLinkFault draws a fault of a link and its end.
func drawLinkFault(d dice, at time.Duration, process string, tls bool) []Step {
	what := oneOf(d, Cut, Cut, HalfClose, BlackHole, BlackHole, Stall, Refuse, Slow, Drip, CutAfter)
	s := Step{At: at, What: what, On: process}
	switch what {
	case Cut, HalfClose:
		return []Step{s}
	case BlackHole:
		s.N, s.For = oneOf(d, 0, 0, 1, 2), oneOf(d, d.between(10*time.Millisecond, time.Second),
			d.between(time.Second, 40*time.Second))
	case Stall, Refuse:
		s.For = d.between(100*time.Millisecond, 30*time.Second)
	case Slow:
		s.N, s.Text, s.For = 1+d.IntN(3000), oneOf(d, "", "jitter"), d.between(time.Second, 30*time.Second)
	case Drip:
		s.N, s.For = oneOf(d, 100, 1000, 10000), d.between(time.Second, 20*time.Second)
	case CutAfter:
		s.N, s.For = 1+d.IntN(3000), d.between(time.Second, 10*time.Second)
		if tls && d.chance(0.4) { // without TLS, corruption cannot be detected
			s.What, s.N = Corrupt, 500+d.IntN(5000)
		}
	}
	return []Step{s, {At: at + s.For, What: LinkHealed, On: process, Text: string(s.What)}}
}

// drawServerFault draws a fault of the server. It ends by itself.
func drawServerFault(d dice, at time.Duration) []Step {
	length := d.between(time.Second, 25*time.Second).Truncate(time.Second)
	share := oneOf(d, "10%", "30%", "70%", "100%")
	scope := oneOf(d, "", "", ",verb=list", ",verb=watch", ",verb=list|watch", ",verb=delete|deletecollection",
		",resource=configmaps", ",resource=namespaces")
	limits := fmt.Sprintf(":for=%s,share=%s,seed=%d%s", length, share, 1+d.IntN(1<<20), scope)
	text := oneOf(d,
		func() string { return "compact" },
		func() string { return "compact" },
		func() string { return "cut-watches" },
		func() string {
			return "too-many-requests" + limits + ",retry-after=" + oneOf(d, "none", "1s", "3s", "20s")
		},
		func() string {
			return "too-many-requests" + limits + ",retry-after=" + oneOf(d, "none", "1s", "3s", "20s")
		},
		func() string { return "internal-error" + limits },
		func() string { return "unavailable" + limits + oneOf(d, "", ",retry-after=2s") },
		func() string { return "delay" + limits + ",by=" + oneOf(d, "50ms", "2s", "20s") },
		func() string { return "silence:for=" + length.String() },
		func() string { return "hold-events:for=" + length.String() },
		func() string {
			return "withhold-bookmarks:for=" + length.String() + ",which=" + oneOf(d, "regular", "initial", "all")
		},
		func() string { return "expire-continue" + limits },
		func() string { return fmt.Sprintf("interrupt-streaming-lists%s,after=%d", limits, 1+d.IntN(4)) },
		// Only the last event: the checks demand that no handler sees an object go back in time.
		func() string { return "repeat-events" + limits },
		func() string { return "repeat-events" + limits },
		func() string { return fmt.Sprintf("stale-reads:for=%s,versions=%d", length, 1+d.IntN(40)) },
		func() string {
			return "conflict:count=" + strconv.Itoa(1+d.IntN(5)) + ",user=" + user + ",for=" + length.String()
		},
		func() string { return "broken-group:group=example.org,version=v1,for=" + length.String() },
		func() string { return "broken-group:for=" + length.String() },
		func() string {
			return "forbid:user=" + user + ",for=" + length.String() +
				oneOf(d, ",verb=list", ",verb=watch", ",verb=deletecollection", ",resource=widgets")
		},
		func() string {
			return "webhook-denies:user=" + user + ",verb=delete,for=" + length.String() + ",share=" + share
		},
		func() string {
			return "webhook-unreachable:user=" + user + ",for=" + length.String() + ",share=" + share
		},
		func() string { return "node-lost:for=" + length.String() },
	)()
	return []Step{{At: at, What: Fault, Text: text}}
}

// user is the user as which all clients authenticate.
const user = "kubernetes-admin"

// dice are the random numbers of one actor in one storm. Each actor has its own, so that an
// additional decision of one does not change those of the others.
type dice struct{ *rand.Rand }

// diceOf returns the dice of an actor. The same seed and words give the same dice.
func diceOf(seed uint64, words ...string) dice {
	h := fnv.New64a()
	for _, word := range words {
		h.Write([]byte(word))
		h.Write([]byte{0})
	}
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// chance returns true with the given probability, from 0 to 1.
func (d dice) chance(share float64) bool { return d.Float64() < share }

// between returns a duration from a range, in whole milliseconds.
func (d dice) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64((most-least)/time.Millisecond)+1))*time.Millisecond
}

// pause returns the time to the next of a series of events, given their average interval.
func (d dice) pause(mean time.Duration) time.Duration {
	return min(time.Duration(d.ExpFloat64()*float64(mean)), 5*mean).Truncate(time.Millisecond)
}

// oneOf returns one of the values.
func oneOf[V any](d dice, values ...V) V { return values[d.IntN(len(values))] }

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Plan is the plan of a run, which follows from seed and duration alone. What the writers write and
// which requests a fault strikes also depends on the machine's speed.
type Plan struct {
	Seed uint64
	// OldServer makes kube-apiserver answer from etcd and refuse streaming lists.
	OldServer bool
	// Replicas are the processes of "orrery run". Two elect a leader.
	Replicas []ReplicaPlan
	// ColdStart starts everything during the first round's faults.
	ColdStart bool
	// DarkEnd ends everything while the server is away.
	DarkEnd bool
	Rounds  []Round
}

// ReplicaPlan is one process of "orrery run".
type ReplicaPlan struct {
	WebSocket bool // watches over websocket
}

// Round is a period of faults, followed by a quiet point.
type Round struct {
	Lasts time.Duration
	Steps []Step
}

// Step is one fault: its start since the beginning of the round, duration, kind and place.
type Step struct {
	After, For time.Duration
	Fault      string
	Where      string
	Amount     int // from 1 to 100, with a meaning for each fault
}

func (s Step) String() string {
	return fmt.Sprintf("%s: %s (%d) for %.1f s", s.Where, s.Fault, s.Amount, s.For.Seconds())
}

// The places of faults other than the doors, which are named for their subjects.
const (
	atServer   = "control plane"
	atRights   = "rights"
	atHTTP     = "informers over http"
	atSocket   = "informers over websocket"
	everywhere = "all doors"
)

// replicaName returns the name of a replica, its door and its log.
func replicaName(i int) string { return fmt.Sprintf("orrery-%d", i+1) }

// roundLasts is the length of a round.
const roundLasts = 20 * time.Second

// NewPlan draws a plan.
func NewPlan(seed uint64, duration time.Duration) Plan {
	dice := rand.New(rand.NewPCG(seed, 0x6f7272657279))
	p := Plan{Seed: seed, OldServer: dice.IntN(3) == 0, ColdStart: dice.IntN(3) == 0, DarkEnd: dice.IntN(3) == 0}
	for range 1 + dice.IntN(2) {
		p.Replicas = append(p.Replicas, ReplicaPlan{WebSocket: dice.IntN(3) == 0})
	}
	for range max(1, int((duration+roundLasts/2)/(roundLasts+roundLasts/4))) {
		lasts := min(roundLasts, duration)
		round := Round{Lasts: lasts}
		for range 4 + dice.IntN(9) {
			round.Steps = append(round.Steps, p.draw(dice, lasts))
		}
		slices.SortStableFunc(round.Steps, func(a, b Step) int { return int(a.After - b.After) })
		p.Rounds = append(p.Rounds, round)
	}
	return p
}

// draw draws a step.
func (p *Plan) draw(dice *rand.Rand, lasts time.Duration) Step {
	total := 0
	for _, f := range catalogue {
		total += f.weight
	}
	at := dice.IntN(total)
	i := 0
	for at >= catalogue[i].weight {
		at -= catalogue[i].weight
		i++
	}
	f := catalogue[i]
	places := f.places(p)
	tenths := func(d time.Duration) time.Duration {
		return time.Duration(1+dice.IntN(max(1, int(d/(100*time.Millisecond))))) * 100 * time.Millisecond
	}
	return Step{
		After: tenths(lasts * 3 / 4), For: min(tenths(f.longest), lasts), Fault: f.name,
		Where: places[dice.IntN(len(places))], Amount: 1 + dice.IntN(100),
	}
}

// has reports whether a fault occurs.
func (p *Plan) has(fault string) bool {
	return slices.ContainsFunc(p.Rounds, func(r Round) bool {
		return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Fault == fault })
	})
}

// String returns the plan, one line for each step.
func (p Plan) String() string {
	var b strings.Builder
	server := "as it comes"
	if p.OldServer {
		server = "without watch cache and streaming lists"
	}
	fmt.Fprintf(&b, "seed %d: kube-apiserver %s", p.Seed, server)
	for i, r := range p.Replicas {
		transport := "http"
		if r.WebSocket {
			transport = "websocket"
		}
		fmt.Fprintf(&b, ", %s over %s", replicaName(i), transport)
	}
	if p.ColdStart {
		b.WriteString("; everything starts among faults")
	}
	if p.DarkEnd {
		b.WriteString("; everything ends while nothing answers")
	}
	b.WriteByte('\n')
	for i, r := range p.Rounds {
		fmt.Fprintf(&b, "round %d, %.0f s\n", i+1, r.Lasts.Seconds())
		for _, s := range r.Steps {
			fmt.Fprintf(&b, "  +%4.1f s  %s\n", s.After.Seconds(), s)
		}
	}
	return b.String()
}

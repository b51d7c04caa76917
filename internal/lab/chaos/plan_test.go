package chaos

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Step is one action in a storm. What decides which fields matter.
type Step struct {
	At    time.Duration // since the beginning of the storm
	Actor string        // whose dice drew it
	What  Action
	On    string // a process, or resource/namespace/name
	Text  string // a fault, a label, the kind of a restart
	N     int
	For   time.Duration // how long a fault lasts
}

// Action is what a [Step] does.
type Action string

// The actions.
const (
	// Writes. A write that is impossible, because the object is missing or exists already, is
	// skipped.
	Put             Action = "put"              // creates the object, or changes it
	Delete          Action = "delete"           // deletes it
	Recreate        Action = "recreate"         // deletes it and immediately recreates it
	Release         Action = "release"          // removes the finalizer that holds it
	CreateNamespace Action = "create-namespace" // with the finalizers in Text
	DeleteNamespace Action = "delete-namespace"

	// Faults of a link, which end after For.
	Cut        Action = "cut"
	HalfClose  Action = "half-close"
	BlackHole  Action = "black-hole" // N: 0 both directions, 1 what is sent, 2 what is received
	Stall      Action = "stall"
	Refuse     Action = "refuse"
	Slow       Action = "slow" // N is the delay in ms
	CutAfter   Action = "cut-after"
	LinkHealed Action = "link-healed" // the end of them

	// Faults of the server.
	Fault   Action = "fault"   // Text as for the server's option --fault
	Restart Action = "restart" // Text: how; For: how long it is down

	Reborn Action = "reborn" // the process On ends as Text says, and a new one takes its place

	// Handlers of the informer On.
	Join  Action = "join"
	Leave Action = "leave" // N: the index among those that joined late
)

// String returns the step as a line of a report.
func (s Step) String() string {
	words := []string{fmt.Sprintf("%9.3fs %-14s %s", s.At.Seconds(), s.Actor, s.What)}
	if s.On != "" {
		words = append(words, s.On)
	}
	if s.Text != "" {
		words = append(words, s.Text)
	}
	if s.N != 0 {
		words = append(words, fmt.Sprint(s.N))
	}
	if s.For != 0 {
		words = append(words, "for "+s.For.String())
	}
	return strings.Join(words, " ")
}

// Plan has all decisions made before a run: the subjects, and the times of all steps. It follows
// from seed and duration alone.
type Plan struct {
	Seed     uint64
	Duration time.Duration // total of all storms

	TLS    bool // and so HTTP/2, except for websockets
	Window int  // how many events of each resource the server remembers

	// AllControllers runs all controllers of the project in the process, on a server without its
	// own garbage collector.
	AllControllers bool

	Processes []ProcessPlan
	Storms    []Storm
}

// ProcessPlan is a client of the server with its own link and informers.
type ProcessPlan struct {
	Name      string
	Watch     restclient.WatchTransport
	Textbook  bool          // its client decodes with encoding/json
	Timeout   time.Duration // of a request
	QPS       float32       // negative: no limit
	Informers []InformerPlan
	// Workers is the number of workers of its namespace controller; with 0 it has no controller.
	Workers int
	// Gears is the set of gears of all controllers, see gears.Parse. If it is "", they do not run
	// in this process.
	Gears string
}

// InformerPlan is one informer.
type InformerPlan struct {
	Name      string
	Resource  string // namespaces, configmaps, pods, widgets
	Form      Form
	Selector  string // of labels
	PageSize  int64
	Streaming bool
	Resync    time.Duration
	Gears     string        // see gearsOf
	MinWatch  time.Duration // 0: the default
	Detect    bool          // detect modifications of the store's objects
	Handlers  []HandlerPlan
}

// Form is how much of an object an informer requests.
type Form string

// The forms.
const (
	Typed    Form = "typed"
	Heads    Form = "heads"
	Document Form = "document"
)

// HandlerPlan is one handler of an informer.
type HandlerPlan struct {
	Coalescing bool
	Resync     time.Duration
	// Work is the time that each event takes. Every StuckEvery-th event takes StuckFor instead,
	// unless StuckEvery is 0.
	Work       time.Duration
	StuckEvery int
	StuckFor   time.Duration
}

// Storm is a period of faults and writes. A quiet point follows it.
type Storm struct {
	Length time.Duration
	Steps  []Step // in the order of At
}

// NewPlan draws the plan of a seed. A duration of 0 means ten minutes.
func NewPlan(seed uint64, duration time.Duration) Plan {
	if duration <= 0 {
		duration = DefaultDuration
	}
	d := diceOf(seed, "world")
	p := Plan{
		Seed: seed, Duration: duration,
		TLS:    d.chance(0.3),
		Window: oneOf(d, 0, 0, 30, 200),
	}
	for i := range processes {
		p.Processes = append(p.Processes, drawProcess(seed, i, p.TLS))
	}
	p.drawStorms()
	return p
}

func (p *Plan) drawStorms() {
	count := max(1, int((p.Duration+stormLength-1)/stormLength))
	for i := range count {
		p.Storms = append(p.Storms, p.drawStorm(strconv.Itoa(i), p.Duration/time.Duration(count)))
	}
}

const (
	// DefaultDuration is the total virtual time of the storms of a run.
	DefaultDuration = 10 * time.Minute
	stormLength     = 2 * time.Minute
	processes       = 3
)

func drawProcess(seed uint64, number int, tls bool) ProcessPlan {
	name := []string{"controller", "reader", "cache"}[number]
	d := diceOf(seed, "process", name)
	p := ProcessPlan{
		Name:     name,
		Watch:    oneOf(d, restclient.WatchHTTP, restclient.WatchHTTP, restclient.WatchWebSocket),
		Textbook: d.chance(0.3),
		Timeout:  oneOf(d, 15*time.Second, 30*time.Second),
		QPS:      oneOf[float32](d, -1, -1, 20),
	}
	if number == 0 {
		p.Workers = oneOf(d, 2, 5, 10)
		one := drawInformer(seed, name, "namespaces")
		one.Form, one.Selector = Typed, ""
		p.Informers = append(p.Informers, one)
		return p
	}
	for _, resource := range [][]string{{"namespaces", "configmaps", "widgets"},
		{"configmaps", "pods", "widgets"}}[number-1] {
		p.Informers = append(p.Informers, drawInformer(seed, name, resource))
	}
	if number == 1 && d.chance(0.2) { // two controllers without leader election: slower, but correct
		p.Workers = 3
		p.Informers[0].Form, p.Informers[0].Selector = Typed, ""
	}
	return p
}

// gearNames are the names of the informers' sets of gears.
var gearNames = []string{"fast", "textbook", "coalescing"}

// gearsOf returns the set of gears with that name. The textbook set has the fast reflector, because
// storms kill connections silently, which the textbook reflector does not handle.
func gearsOf[T any](name string) informer.Gears[T] {
	gears := fast.Gears[T]()
	switch name {
	case "textbook":
		return informer.Gears[T]{NewReflector: gears.NewReflector}
	case "coalescing":
		gears.NewProcessor = fast.NewCoalescingProcessor[T]
	}
	return gears
}

func drawInformer(seed uint64, process, resource string) InformerPlan {
	d := diceOf(seed, "informer", process, resource)
	forms := map[string][]Form{
		"namespaces": {Typed, Heads, Document}, "pods": {Typed, Heads, Document},
		"configmaps": {Heads, Document}, "widgets": {Heads, Document},
	}
	p := InformerPlan{
		Name: process + "/" + resource, Resource: resource,
		Form:      oneOf(d, forms[resource]...),
		PageSize:  oneOf(d, int64(0), 0, 1, 3, 10),
		Streaming: d.chance(0.6),
		Resync:    oneOf(d, time.Duration(0), 0, 20*time.Second, time.Minute),
		Gears:     oneOf(d, gearNames...),
		MinWatch:  oneOf(d, time.Duration(0), 10*time.Second, time.Minute),
		Detect:    d.chance(0.2),
	}
	if d.chance(0.2) && resource != "namespaces" {
		p.Selector = "tier=gold"
	}
	for range 1 + d.IntN(3) {
		p.Handlers = append(p.Handlers, drawHandler(d))
	}
	return p
}

func drawHandler(d dice) HandlerPlan {
	h := HandlerPlan{
		Coalescing: d.chance(0.4),
		Resync:     oneOf(d, 0, 0, -1, 30*time.Second),
	}
	if d.chance(0.3) {
		h.Work = oneOf(d, time.Millisecond, 20*time.Millisecond, 100*time.Millisecond)
	}
	if d.chance(0.15) {
		h.StuckEvery, h.StuckFor = 10+d.IntN(30), oneOf(d, 5*time.Second, 20*time.Second)
		h.Resync = -1 // resync events would arrive faster than it can process them
	}
	return h
}

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
			return drawLinkFault(d, at, process.Name)
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
func drawLinkFault(d dice, at time.Duration, process string) []Step {
	what := oneOf(d, Cut, Cut, HalfClose, BlackHole, BlackHole, Stall, Refuse, Slow, CutAfter)
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
		s.N, s.For = 1+d.IntN(3000), d.between(time.Second, 30*time.Second)
	case CutAfter:
		s.N, s.For = 1+d.IntN(3000), d.between(time.Second, 10*time.Second)
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
	during := ":for=" + length.String()
	denied := during + ",user=" + user
	text := oneOf(d,
		"compact", "compact", "cut-watches",
		"too-many-requests"+limits+",retry-after="+oneOf(d, "none", "1s"),
		"too-many-requests"+limits+",retry-after="+oneOf(d, "3s", "20s"),
		"internal-error"+limits,
		"unavailable"+limits+oneOf(d, "", ",retry-after=2s"),
		"delay"+limits+",by="+oneOf(d, "50ms", "2s", "20s"),
		"silence"+during,
		"hold-events"+during,
		"withhold-bookmarks"+during+",which="+oneOf(d, "regular", "initial", "all"),
		"expire-continue"+limits,
		"interrupt-streaming-lists"+limits+",after="+oneOf(d, "1", "2", "3", "4"),
		// Only the last event: the checks demand that no handler sees an object go back in time.
		"repeat-events"+limits, "repeat-events"+limits,
		"stale-reads"+during+",versions="+strconv.Itoa(1+d.IntN(40)),
		"conflict"+denied+",count="+strconv.Itoa(1+d.IntN(5)),
		"broken-group"+during, "broken-group"+during+",group=example.org,version=v1",
		"forbid"+denied+oneOf(d, ",verb=list", ",verb=watch", ",verb=deletecollection", ",resource=widgets"),
		"webhook-denies"+denied+",verb=delete,share="+share,
		"webhook-unreachable"+denied+",share="+share,
		"node-lost"+during,
	)
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

// NewControllersPlan draws the plan of a run with all controllers in one process. There are no
// other processes.
func NewControllersPlan(seed uint64, duration time.Duration) Plan {
	d := diceOf(seed, "controllers")
	p := Plan{
		Seed: seed, Duration: duration,
		TLS: d.chance(0.2), Window: oneOf(d, 0, 0, 200),
		AllControllers: true,
		Processes: []ProcessPlan{{
			Name:     "controllers",
			Watch:    oneOf(d, restclient.WatchHTTP, restclient.WatchHTTP, restclient.WatchWebSocket),
			Textbook: d.chance(0.3),
			Timeout:  oneOf(d, 15*time.Second, 30*time.Second),
			QPS:      oneOf[float32](d, -1, -1, 20),
			Gears:    oneOf(d, "fast", "textbook,reflector=fast"), // as in gearsOf
		}},
	}
	p.drawStorms()
	return p
}

// propagation is the propagation policy of a deletion; "" means the default of the type.
func propagation(d dice) string {
	return string(oneOf(d, "", api.DeletePropagationBackground, api.DeletePropagationForeground,
		api.DeletePropagationOrphan))
}

// drawApps draws a change of a Deployment, or of a ReplicaSet without one.
func drawApps(d dice, at time.Duration) []Step {
	s := Step{
		At: at, What: oneOf(d, Put, Put, Put, Delete, Release), N: d.IntN(1 << 20),
		On: fmt.Sprintf("%s/%s/a%d", oneOf(d, "deployments", "deployments", "replicasets"), drawSpace(d), d.IntN(2)),
	}
	switch s.What {
	case Put:
		s.Text = oneOf(d, "", "", "", "held")
	case Delete:
		s.Text = propagation(d)
	}
	return []Step{s}
}

// drawSpace draws a namespace: one that is deleted repeatedly, or one that stays.
func drawSpace(d dice) string { return oneOf(d, staying, "n"+strconv.Itoa(d.IntN(namespaceCount))) }

const staying = "default"

func drawMachine(d dice, at time.Duration) []Step {
	s := Step{
		At: at, What: oneOf(d, Put, Put, Put, Delete, Recreate, Release), N: d.IntN(1 << 20),
		On: fmt.Sprintf("virtualmachines/%s/v%d", drawSpace(d), d.IntN(2)),
	}
	if s.What == Put {
		s.Text = oneOf(d, "", "", "", "held")
	}
	return []Step{s}
}

// drawOwned draws an object whose owner may not exist, or the deletion of one with dependents.
// Cycles can occur.
func drawOwned(d dice, at time.Duration) []Step {
	s := Step{At: at, On: drawObject(d)}
	for strings.HasPrefix(s.On, "pods/") {
		s.On = drawObject(d)
	}
	if d.chance(0.6) {
		s.What, s.N, s.Text = Put, d.IntN(1<<20),
			fmt.Sprintf("owner=%s/o%d", oneOf(d, "configmaps", "configmaps", "widgets"), d.IntN(nameCount))
	} else {
		s.What, s.Text = Delete, propagation(d)
	}
	return []Step{s}
}

// drawSecondParty draws a change of a namespace that the second party holds too.
func drawSecondParty(d dice, at time.Duration) []Step {
	space := fmt.Sprintf("s%d", d.IntN(2))
	switch d.IntN(4) {
	case 0:
		return []Step{{At: at, What: CreateNamespace, On: "namespaces//" + space, Text: "second-party"}}
	case 1:
		return []Step{{At: at, What: DeleteNamespace, On: "namespaces//" + space}}
	default:
		return []Step{{At: at, What: Put, On: fmt.Sprintf("%s/%s/b%d", builds, space, d.IntN(3))}}
	}
}

// drawType draws the removal or creation of the virtual machine type.
func drawType(d dice, at time.Duration) []Step {
	return []Step{{At: at, What: oneOf(d, Put, Put, Put, Delete),
		On: customResources + "//virtualmachines.cloudnative.tw"}}
}

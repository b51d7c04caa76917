package chaos

import (
	"strconv"
	"time"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/restclient"
)

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

package collect

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/wait"
)

// Options limits Collect. The zero value has the defaults.
type Options struct {
	// Interval is the time between the two samples. Default 10 s; negative: one sample only.
	Interval time.Duration
	// Timeout bounds everything but the interval. Default 60 s.
	Timeout time.Duration
	// MaxRequests bounds the number of requests. Default 400, and for CollectAll 20 more for each
	// namespace.
	MaxRequests int
	// Finalizers are known owners of finalizers beside those of the table.
	Finalizers []why.Keeper
}

// The defaults of Options, and the limit of one request.
const (
	DefaultInterval    = 10 * time.Second
	DefaultTimeout     = 60 * time.Second
	DefaultMaxRequests = 400
	RequestsEach       = 20 // of CollectAll, for each namespace

	requestTimeout = 5 * time.Second

	// atOnce bounds the requests that run at the same time.
	atOnce = 8
)

// Collect collects the evidence for one namespace. It fails if the first request gets no answer or
// ctx ends.
func Collect(ctx context.Context, client *restclient.Client, namespace string, options Options) (why.Evidence, error) {
	c := newCollector(client, namespace, options)
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	if err := c.first(bounded); err != nil {
		return why.Evidence{}, err
	}
	if c.inDeletion() {
		c.environment(bounded)
		c.content(bounded)
		c.noteLeases(bounded, c)
	}
	c.evidence.Took = time.Since(began)
	if c.inDeletion() {
		c.complete(ctx, bounded, c)
	}
	if err := context.Cause(ctx); err != nil {
		return why.Evidence{}, err
	}
	c.finish()
	return c.evidence, nil
}

// newCollector returns a collector for one namespace.
func newCollector(client *restclient.Client, namespace string, options Options) *collector {
	options.Interval = cmp.Or(options.Interval, DefaultInterval)
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	options.MaxRequests = cmp.Or(options.MaxRequests, DefaultMaxRequests)
	c := &collector{client: client, options: options, shared: &shared{slots: make(chan struct{}, atOnce)}}
	c.evidence = why.Evidence{APIVersion: why.EvidenceVersion, Name: namespace, Finalizers: options.Finalizers}
	return c
}

// complete takes the second samples after the interval, if there is one, and then reads what the
// samples give a reason for: it has what was repaired during the interval. bounded is the context
// of the first samples.
func (c *collector) complete(ctx, bounded context.Context, all ...*collector) {
	twice := c.options.Interval >= 0 && bounded.Err() == nil && wait.Sleep(ctx, c.options.Interval) == nil
	again := time.Now()
	if twice {
		left, cancel := context.WithTimeout(ctx, max(requestTimeout, c.options.Timeout-c.evidence.Took))
		defer cancel()
		bounded = left
		c.answers.Clear() // those of the time before the interval
		for _, one := range all {
			one.second(bounded)
		}
		c.control(bounded)
		for _, one := range all[1:] {
			one.copyControl(c)
		}
	}
	for _, one := range all {
		if one.evidence.Latest() != nil {
			one.suspicions(bounded)
		}
	}
	for _, one := range all {
		one.evidence.Took += time.Since(again)
	}
}

// collector reads the evidence of one namespace.
type collector struct {
	client  *restclient.Client
	options Options

	*shared

	mu       sync.Mutex   // guards the next fields while requests run
	evidence why.Evidence // written by the goroutine of Collect, or under mu
	cut      string       // why the evidence is incomplete
}

// shared is the common state of the collectors of several namespaces.
type shared struct {
	requests  atomic.Int64
	throttled atomic.Int64
	slots     chan struct{} // holds an entry for each request that runs

	answers sync.Map // of the lists of the cluster, by request and type; unused with one namespace
	many    bool

	versions map[string]string // the resourceVersions of Leases before the interval, by namespace/name
}

func (c *collector) inDeletion() bool {
	return c.evidence.Namespace != nil && !c.evidence.Namespace.Deleted.IsZero()
}

func (c *collector) finish() {
	e := &c.evidence
	e.Requests, e.Throttled, e.Incomplete = int(c.requests.Load()), int(c.throttled.Load()), c.cut
	slices.SortFunc(e.Types, func(a, b why.Type) int { return cmp.Compare(a.Name(), b.Name()) })
}

// Package collect reads the evidence for package why from an API server. It sends GET requests and
// SubjectAccessReviews, and writes nothing.
//
//	wave 0   the namespace; one that does not exist or is not terminating ends here
//	wave 1   discovery, and every type that can be listed, in pages of 500, metadata only; pods whole
//	wave 2   after the interval: the namespace, discovery if it was incomplete, the first page of what held something
//	wave 3   APIServices, CustomResourceDefinitions, the pods of kube-controller-manager, Leases
//	wave 4   as both samples suggest: webhooks, policies, Services, nodes, reviews
//
// At most eight requests run at a time, and each has five seconds. A failed request is evidence,
// not an error: Collect goes on, and the report names what was not read. Collect fails only if the
// first request, for the namespace, gets no answer, or if its context ends.
//
// Collect starts goroutines and returns when all have ended.
//
// Next: cmd/orrery
package collect

import (
	"cmp"
	"context"
	"net/http"
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
	// Timeout bounds the requests before the interval and those after it together; those after it
	// have at least 5 s, and so have those about the cluster. Default 60 s.
	Timeout time.Duration
	// MaxRequests bounds the number of requests. Default 400, and for CollectAll 20 more for each
	// namespace.
	MaxRequests int
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
	bounded, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	if err := c.first(bounded); err != nil {
		return why.Evidence{}, err
	}
	err := examine(ctx, bounded, c)
	return c.evidence, err
}

// CollectAll collects the evidence for each terminating namespace, sorted by name.
//   - Each type is listed once for all of them, and each collection and each single object of
//     the cluster is read once.
//   - The second sample lists, in each namespace, only the types that it had objects of.
//   - The limits of the options apply to the whole.
//   - A namespace that goes before its first sample is left out; one that goes before its second is
//     reported as absent. One that may be listed and not read is reported.
//
// CollectAll fails as [Collect] does.
func CollectAll(ctx context.Context, client *restclient.Client, options Options) ([]why.Evidence, error) {
	root := newCollector(client, "", options)
	root.many = true
	bounded, cancel := context.WithTimeout(ctx, root.options.Timeout)
	defer cancel()
	names, err := root.inDeletionNow(bounded)
	if err != nil {
		return nil, err
	}
	options.MaxRequests = cmp.Or(options.MaxRequests, DefaultMaxRequests+RequestsEach*len(names))
	var all []*collector
	for _, name := range names {
		c := newCollector(client, name, options)
		c.shared = root.shared
		if err := c.first(bounded); err != nil {
			return nil, err
		}
		if failed := c.evidence.Refused; c.inDeletion() || failed != nil && failed.Code != http.StatusNotFound {
			all = append(all, c)
		}
	}
	if err := examine(ctx, bounded, all...); err != nil {
		return nil, err
	}
	var evidence []why.Evidence
	for _, c := range all {
		evidence = append(evidence, c.evidence)
	}
	return evidence, nil
}

// examine reads everything about those namespaces that are terminating. bounded is the context of
// the first samples. It fails if ctx ends.
func examine(ctx, bounded context.Context, read ...*collector) error {
	all := slices.DeleteFunc(slices.Clone(read), func(c *collector) bool { return !c.inDeletion() })
	if len(all) > 0 {
		first := all[0]
		first.reserved = controlRequests
		content(bounded, all...)
		first.complete(ctx, bounded, all)
		for _, c := range all {
			c.cut = cmp.Or(c.cut, first.cut) // a list for all of them
		}
	}
	for _, c := range read {
		c.finish()
	}
	return context.Cause(ctx)
}

// newCollector returns a collector for one namespace.
func newCollector(client *restclient.Client, namespace string, options Options) *collector {
	options.Interval = cmp.Or(options.Interval, DefaultInterval)
	options.Timeout = cmp.Or(options.Timeout, DefaultTimeout)
	options.MaxRequests = cmp.Or(options.MaxRequests, DefaultMaxRequests)
	c := &collector{
		client:  client,
		options: options,
		shared:  &shared{slots: make(chan struct{}, atOnce), began: time.Now()},
	}
	c.evidence = why.Evidence{APIVersion: why.EvidenceVersion, Name: namespace}
	return c
}

// complete takes the second samples after the interval, if there is one, and then reads the
// cluster, which has what was repaired during the interval.
func (c *collector) complete(ctx, bounded context.Context, all []*collector) {
	took := time.Since(c.began)
	if c.options.Interval >= 0 && bounded.Err() == nil && wait.Sleep(ctx, c.options.Interval) == nil {
		c.waited = c.options.Interval
		left, cancel := context.WithTimeout(ctx, max(requestTimeout, c.options.Timeout-took))
		defer cancel()
		bounded = left
		for _, one := range all {
			one.second(bounded)
		}
	}
	c.reserved = 0
	if bounded.Err() != nil { // it ended while the content was read
		left, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		bounded = left
	}
	for _, one := range all {
		one.control(bounded)
		if one.evidence.Latest() != nil {
			one.suspicions(bounded)
		}
	}
}

// collector reads the evidence of one namespace.
type collector struct {
	client  *restclient.Client
	options Options

	*shared

	mu       sync.Mutex   // guards cut, and what several requests append to
	evidence why.Evidence // each field is written by one request at a time
	cut      string       // why the evidence is incomplete
}

// shared is the common state of the collectors of several namespaces.
type shared struct {
	requests atomic.Int64
	reserved int           // of the requests that may be sent, for control
	slots    chan struct{} // holds an entry for each request that runs

	answers sync.Map // of the lists of the cluster, by request and type; unused with one namespace
	many    bool

	began  time.Time
	waited time.Duration // between the samples
}

func (c *collector) inDeletion() bool {
	return c.evidence.Namespace != nil && !c.evidence.Namespace.Deleted.IsZero()
}

func (c *collector) finish() {
	e := &c.evidence
	e.Took = time.Since(c.began) - c.waited
	e.Requests, e.Incomplete = int(c.requests.Load()), c.cut
	slices.SortFunc(e.Types, func(a, b why.Type) int { return cmp.Compare(a.Name(), b.Name()) })
}

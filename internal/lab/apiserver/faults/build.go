package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

// builder reads the options of an order and keeps the first problem.
type builder struct {
	order   order
	problem string
}

// build parses the text of a fault.
func build(text string, now time.Time) (*fault, error) {
	o, err := parse(text)
	if err != nil {
		return nil, err
	}
	b := builder{order: o}
	f := b.fault(text, now)
	if b.problem != "" {
		return nil, &SyntaxError{text, b.problem}
	}
	return f, nil
}

func (b *builder) fault(text string, now time.Time) *fault {
	f := &fault{
		kind: b.order.kind.Name, text: text, count: -1, share: 1, removed: make(chan struct{}),
		scope: scope{
			verbs: b.list("verb"), resources: b.list("resource"), namespaces: b.list("namespace"),
			names: b.list("name"), users: b.list("user"),
		},
		order: b.order,
	}
	if f.kind != brokenGroup && f.kind != staleDiscovery {
		f.scope.groups = b.list("group")
		for i, group := range f.scope.groups {
			if group == "core" {
				f.scope.groups[i] = ""
			}
		}
	}
	b.limit(f, now)
	b.conditions(f)
	b.particulars(f)
	return f
}

// limit reads how often and how long the fault is active.
func (b *builder) limit(f *fault, now time.Time) {
	switch {
	case f.kind == conflict:
		f.count = b.number("count", 1)
	case b.has("count"):
		f.count = b.number("count", 0)
	}
	if b.has("for") {
		f.until = now.Add(b.duration("for", 0))
	}
	f.share = b.share()
	f.dice = rand.New(rand.NewPCG(uint64(b.number("seed", 1)), 0))
	if b.has("every") {
		f.every = b.duration("every", 0)
	} else if b.order.kind.Action && f.kind != keepsCreating {
		f.count = 1
		if b.has("count") || b.has("for") {
			b.fail("without every it happens once, so count and for have no effect")
		}
	}
}

// conditions reads on which objects the fault depends.
func (b *builder) conditions(f *fault) {
	f.while, f.unless = b.object("while"), b.object("unless")
	if b.has("unless-ready") {
		f.unlessReady.namespace, f.unlessReady.name = b.service("unless-ready", "")
	}
}

// object reads the name of an object; the zero value if the option is absent.
func (b *builder) object(option string) object {
	if !b.has(option) {
		return object{}
	}
	parts := strings.Split(b.text(option, ""), "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		b.fail(option + " must be RESOURCE/NAME or RESOURCE/NAMESPACE/NAME, such as validatingwebhookconfigurations/policy")
	}
	o := object{resource: parts[0], name: parts[len(parts)-1]}
	if len(parts) == 3 {
		o.namespace = parts[1]
	}
	return o
}

// service reads the namespace and name of a Service.
func (b *builder) service(option, otherwise string) (namespace, name string) {
	namespace, name, both := strings.Cut(b.text(option, otherwise), "/")
	if !both || namespace == "" || name == "" || strings.Contains(name, "/") {
		b.fail(option + " must be NAMESPACE/NAME")
	}
	return namespace, name
}

// particulars reads the options of single kinds.
func (b *builder) particulars(f *fault) {
	switch f.kind {
	case tooManyRequests, unavailable:
		f.wait = b.retryAfter(f.kind)
	case repeatEvents, interruptStreams:
		f.events = b.number(map[string]string{repeatEvents: "back", interruptStreams: "after"}[f.kind], 1)
	case withholdBookmarks:
		if which := b.text("which", "all"); !slices.Contains([]string{"regular", "initial", "all"}, which) {
			b.fail("which=" + which + ": must be regular, initial or all")
		}
	case delay:
		f.wait = b.duration("by", time.Second)
	case staleReads:
		f.versions = uint64(b.number("versions", 10))
	case brokenGroup, staleDiscovery:
		f.broken = api.GroupVersion{Group: b.text("group", "metrics.k8s.io"), Version: b.text("version", "v1beta1")}
		if strings.ContainsAny(f.broken.Group+f.broken.Version, "/| ") {
			b.fail("group and version must each be a single name")
		}
	case conversionFails:
		b.service("service", defaultConverter)
	case nodeLost:
		f.scope.names = b.list("node")
	case notAllowed, forbid:
		if f.scope.empty() {
			b.fail("it needs at least one of verb, group, resource, namespace, name and user; " +
				"otherwise it would refuse everything")
		}
	case keepsCreating:
		f.scope = scope{}
		if !b.has("every") {
			f.every = time.Second
		}
	}
}

// retryAfter reads the Retry-After time; 0 means no header.
func (b *builder) retryAfter(kind string) time.Duration {
	otherwise := time.Duration(0)
	if kind == tooManyRequests {
		if otherwise = time.Second; b.text("retry-after", "") == "none" {
			return 0
		}
	}
	wait := b.duration("retry-after", otherwise)
	if wait%time.Second != 0 {
		b.fail("retry-after must be whole seconds")
	}
	return wait
}

func (b *builder) fail(problem string) {
	if b.problem == "" {
		b.problem = problem
	}
}

func (b *builder) has(name string) bool { _, there := b.order.value(name); return there }

func (b *builder) text(name, otherwise string) string { return b.order.text(name, otherwise) }

func (b *builder) list(name string) []string {
	value, there := b.order.value(name)
	if !there {
		return nil
	}
	parts := alternatives(value)
	for _, part := range parts {
		if part == "" {
			b.fail(fmt.Sprintf("%s=%s: empty alternative next to a |", name, value))
		}
	}
	return parts
}

func (b *builder) number(name string, otherwise int) int {
	value, there := b.order.value(name)
	if !there {
		return otherwise
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 1 {
		b.fail(fmt.Sprintf("%s=%s: must be an integer, 1 or more", name, value))
	}
	return int(n)
}

func (b *builder) duration(name string, otherwise time.Duration) time.Duration {
	value, there := b.order.value(name)
	if !there {
		return otherwise
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		b.fail(fmt.Sprintf("%s=%s: must be a duration such as 300ms, 10s or 2m", name, value))
	}
	return d
}

func (b *builder) share() float64 {
	value, there := b.order.value("share")
	if !there {
		return 1
	}
	number, percent := strings.CutSuffix(value, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share <= 1) {
		b.fail(fmt.Sprintf("share=%s: must be more than 0 and at most 1, or a percentage", value))
	}
	return share
}

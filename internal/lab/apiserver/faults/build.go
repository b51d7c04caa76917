package faults

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"orrery/restclient/api"
)

// builder reads the options of a fault and keeps the first problem.
type builder struct {
	options Options
	problem string
}

// Options are the options of a fault, by name.
type Options map[string]string

// Text returns the value of an option, or otherwise.
func (o Options) Text(name, otherwise string) string {
	if value, there := o[name]; there {
		return value
	}
	return otherwise
}

// SyntaxError reports the invalid text of a fault.
type SyntaxError struct {
	// Text is the whole text.
	Text string
	// Problem says what is wrong and what would be valid.
	Problem string
}

func (e *SyntaxError) Error() string { return "fault " + printable(e.Text) + ": " + e.Problem }

// printable quotes text with unprintable characters escaped, and limits its length.
func printable(text string) string { return strconv.Quote(text[:min(len(text), 200)]) }

// build parses the text of a fault:
//
//	fault  = kind [ ":" option { "," option } ]
//	option = name "=" value
//	value  = text without comma and quote, or a text in double quotes as in Go
//
// Spaces around names and unquoted values are ignored.
func build(text string, now time.Time) (*fault, error) {
	b := builder{options: Options{}}
	kind := b.parse(text)
	f := b.fault(kind, text, now)
	if b.problem != "" {
		return nil, &SyntaxError{text, b.problem}
	}
	return f, nil
}

// setting matches an option and what follows it.
var setting = regexp.MustCompile(`^\s*([^=,]*?)\s*=\s*("(?:[^"\\]|\\.)*"|[^",]*?)\s*(,|$)`)

func (b *builder) parse(text string) Kind {
	name, rest, more := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	at := slices.IndexFunc(catalogue, func(k Kind) bool { return k.Name == name })
	if at < 0 {
		b.fail("unknown kind " + printable(name) + "; the kinds are " + kindNames())
		return Kind{}
	}
	for more && b.problem == "" {
		parts := setting.FindStringSubmatch(rest)
		if parts == nil {
			b.fail("options after the colon must be name=value, separated by commas, not " + printable(rest))
			break
		}
		b.set(catalogue[at], parts[1], parts[2])
		rest, more = rest[len(parts[0]):], parts[3] == ","
	}
	return catalogue[at]
}

func (b *builder) set(kind Kind, name, value string) {
	var err error
	if strings.HasPrefix(value, `"`) {
		value, err = strconv.Unquote(value)
	}
	switch _, twice := b.options[name]; {
	case !slices.Contains(kind.Options, name):
		b.fail(kind.Name + " has no option " + printable(name) + "; its options are " +
			strings.Join(kind.Options, ", "))
	case twice:
		b.fail("duplicate option " + name)
	case err != nil:
		b.fail("the value of " + name + " is not a quoted text")
	case value == "":
		b.fail("the option " + name + " has no value")
	case strings.ContainsFunc(value, unicode.IsControl):
		b.fail("the value of " + name + " has control characters")
	}
	b.options[name] = value
}

func (b *builder) fault(kind Kind, text string, now time.Time) *fault {
	f := &fault{
		kind: kind.Name, action: kind.Action, text: text, count: -1, share: b.share(), removed: make(chan struct{}),
		scope: scope{
			verbs: b.list("verb"), resources: b.list("resource"), namespaces: b.list("namespace"),
			names: b.list("name"), users: b.list("user"),
		},
		options: b.options,
		while:   b.object("while"), unless: b.object("unless"), unlessReady: b.service("unless-ready"),
	}
	if f.kind != brokenGroup && f.kind != staleDiscovery {
		f.scope.groups = b.list("group")
		if i := slices.Index(f.scope.groups, "core"); i >= 0 {
			f.scope.groups[i] = ""
		}
	}
	b.limit(f, now)
	b.particulars(f)
	return f
}

// limit reads how often and how long the fault is active.
func (b *builder) limit(f *fault, now time.Time) {
	if f.kind == conflict || b.has("count") {
		f.count = b.number("count", 1)
	}
	if b.has("for") {
		f.until = now.Add(b.duration("for", 0))
	}
	f.dice = rand.New(rand.NewPCG(uint64(b.number("seed", 1)), 0))
	if f.every = b.duration("every", 0); f.action && f.every == 0 && f.kind != KeepsCreating {
		f.count = 1
		if b.has("count") || b.has("for") {
			b.fail("without every it happens once, so count and for have no effect")
		}
	}
}

// particulars reads the options of single kinds.
func (b *builder) particulars(f *fault) {
	switch f.kind {
	case tooManyRequests, unavailable:
		if b.options["retry-after"] != "none" {
			f.wait = b.seconds("retry-after", map[string]time.Duration{tooManyRequests: time.Second}[f.kind])
		}
	case RepeatEvents:
		f.events = b.number("back", 1)
	case interruptStreams:
		f.events = b.number("after", 1)
	case withholdBookmarks:
		if which := b.options.Text("which", "all"); !slices.Contains([]string{"regular", "initial", "all"}, which) {
			b.fail("which=" + which + ": must be regular, initial or all")
		}
	case delay:
		f.wait = b.duration("by", time.Second)
	case staleReads:
		f.versions = uint64(b.number("versions", 10))
	case brokenGroup, staleDiscovery:
		group, version := b.options.Text("group", "metrics.k8s.io"), b.options.Text("version", "v1beta1")
		f.broken = api.GroupVersion{Group: group, Version: version}
		if strings.ContainsAny(group+version, "/| ") {
			b.fail("group and version must each be a single name")
		}
	case conversionFails:
		b.service("service")
	case nodeLost:
		f.scope.names = b.list("node")
	case notAllowed, forbid:
		if f.scope.empty() {
			b.fail("it needs at least one of verb, group, resource, namespace, name and user; " +
				"otherwise it would refuse everything")
		}
	case KeepsCreating:
		read(b, "namespace", "", "a single name", func(v string) (string, bool) { return v, !strings.Contains(v, "|") })
		f.scope, f.every = scope{}, b.duration("every", time.Second)
	}
}

func (b *builder) fail(problem string) {
	if b.problem == "" {
		b.problem = problem
	}
}

func (b *builder) has(name string) bool { return b.options[name] != "" }

// read parses the value of an option, which must be what want says. An absent one is otherwise.
func read[T any](b *builder, name string, otherwise T, want string, parse func(value string) (T, bool)) T {
	if !b.has(name) {
		return otherwise
	}
	value, valid := parse(b.options[name])
	if !valid {
		b.fail(fmt.Sprintf("%s=%s: must be %s", name, b.options[name], want))
	}
	return value
}

func (b *builder) number(name string, otherwise int) int {
	return read(b, name, otherwise, "an integer, 1 or more", func(value string) (int, bool) {
		n, err := strconv.ParseInt(value, 10, 32)
		return int(n), err == nil && n >= 1
	})
}

func (b *builder) duration(name string, otherwise time.Duration) time.Duration {
	const want = "a duration such as 300ms, 10s or 2m"
	return read(b, name, otherwise, want, func(value string) (time.Duration, bool) {
		d, err := time.ParseDuration(value)
		return d, err == nil && d > 0
	})
}

// seconds reads a duration in whole seconds, for a header.
func (b *builder) seconds(name string, otherwise time.Duration) time.Duration {
	wait := b.duration(name, otherwise)
	if wait%time.Second != 0 {
		b.fail(name + " must be whole seconds")
	}
	return wait
}

func (b *builder) share() float64 {
	const want = "more than 0 and at most 1, or a percentage"
	return read(b, "share", 1, want, func(value string) (float64, bool) {
		number, percent := strings.CutSuffix(value, "%")
		share, err := strconv.ParseFloat(number, 64)
		if percent {
			share /= 100
		}
		return share, err == nil && share > 0 && share <= 1
	})
}

// list reads alternatives such as list|watch.
func (b *builder) list(name string) []string {
	return read(b, name, nil, "names with a | between them", func(value string) ([]string, bool) {
		parts := strings.Split(value, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return parts, !slices.Contains(parts, "")
	})
}

// object reads the name of an object; the zero value if the option is absent.
func (b *builder) object(name string) object {
	const want = "RESOURCE/NAME or RESOURCE/NAMESPACE/NAME, such as validatingwebhookconfigurations/policy"
	return read(b, name, object{}, want, func(value string) (object, bool) {
		parts := strings.Split(value, "/")
		o := object{resource: parts[0], name: parts[len(parts)-1]}
		if len(parts) == 3 {
			o.namespace = parts[1]
		}
		return o, (len(parts) == 2 || len(parts) == 3) && !slices.Contains(parts, "")
	})
}

// service reads the namespace and name of a Service; the zero value if the option is absent.
func (b *builder) service(name string) object {
	return read(b, name, object{}, "NAMESPACE/NAME", func(value string) (object, bool) {
		parts := strings.Split(value, "/")
		valid := len(parts) == 2 && !slices.Contains(parts, "")
		return object{resource: "services", namespace: parts[0], name: parts[len(parts)-1]}, valid
	})
}

package faults

import (
	_ "embed"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The names of the kinds that something is done for, as they are written.
const (
	// Compact makes the store forget its history. An action.
	Compact = "compact"
	// CutWatches ends the connection of every watch. An action.
	CutWatches = "cut-watches"

	silence            = "silence"
	tooManyRequests    = "too-many-requests"
	internalError      = "internal-error"
	unavailable        = "unavailable"
	delay              = "delay"
	conflict           = "conflict"
	brokenGroup        = "broken-group"
	webhookDenies      = "webhook-denies"
	webhookUnreachable = "webhook-unreachable"
	forbid             = "forbid"
	staleReads         = "stale-reads"
	nodeLost           = "node-lost"
	expireContinue     = "expire-continue"
	withholdBookmarks  = "withhold-bookmarks"
	interruptStreams   = "interrupt-streaming-lists"
	repeatEvents       = "repeat-events"
	staleEvents        = "stale-events"
	holdEvents         = "hold-events"
)

// Actions returns the names of the actions: faults that happen once, or every so often, instead of lasting.
func Actions() []string { return []string{Compact, CutWatches} }

// Catalogue returns the kinds of faults in the order in which they are best explained.
func Catalogue() []Kind { return slices.Clone(catalogue) }

// Kind describes one kind of fault.
type Kind struct {
	// Name begins the line that orders the fault.
	Name string
	// Usage is an example of such a line, with the options that matter for this kind.
	Usage string
	// Summary says in one sentence what the server does.
	Summary string
	// Teaches says in a sentence or two what one learns from it.
	Teaches string
	// Options are the options that the kind takes, the most particular first.
	Options []Option
	// Action tells that the fault happens once, or every so often, instead of lasting.
	Action bool
}

// Option describes an option of a kind.
type Option struct {
	Name string
	// Meaning says what it does, with its unit and its default.
	Meaning string
}

// commonOptions are those that several kinds take.
var commonOptions = map[string][]Option{
	"scope": {
		{"verb", "only these verbs, list|watch for several; any"},
		{"group", "only these API groups, core for the one without a name; any"},
		{"resource", "only these resources, namespaces/finalize for a subresource; any"},
		{"namespace", "only in these namespaces; any"},
		{"name", "only objects of these names; any"},
		{"user", "only these users; any"},
	},
	"share": {
		{"share", "the part of the requests that is hit, 0.3 or 30%; all"},
		{"seed", "where the dice that decide a share start, a whole number; 1"},
	},
	"count": {{"count", "over after this many hits; no limit"}},
	"once":  {{"count", "over after this many hits; 1"}},
	"for":   {{"for", "over after this time, 30s; no limit"}},
	"every": {{"every", "again and again after this time, 10s; once"}},
}

//go:embed catalogue.yaml
var catalogueText []byte

var catalogue = func() []Kind {
	var entries []struct {
		Kind   `yaml:",inline"`
		Common []string
	}
	if err := yaml.Unmarshal(catalogueText, &entries); err != nil {
		panic("faults: catalogue.yaml: " + err.Error()) // it is part of the program
	}
	kinds := make([]Kind, len(entries))
	for i, entry := range entries {
		kinds[i] = entry.Kind
		for _, name := range entry.Common {
			kinds[i].Options = append(kinds[i].Options, commonOptions[name]...)
		}
	}
	return kinds
}()

func (k Kind) takes(option string) bool {
	return slices.ContainsFunc(k.Options, func(o Option) bool { return o.Name == option })
}

func (k Kind) optionNames() string {
	return joined(k.Options, func(o Option) string { return o.Name })
}

func kindNamed(name string) (Kind, bool) {
	at := slices.IndexFunc(catalogue, func(k Kind) bool { return k.Name == name })
	if at < 0 {
		return Kind{}, false
	}
	return catalogue[at], true
}

func kindNames() string { return joined(catalogue, func(k Kind) string { return k.Name }) }

func joined[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = name(one)
	}
	return strings.Join(names, ", ")
}

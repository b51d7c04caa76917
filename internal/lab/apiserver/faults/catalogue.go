package faults

import (
	_ "embed"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The kinds of faults, as they are written in an order.
const (
	// Compact makes the store forget its history. It is an action.
	Compact = "compact"
	// CutWatches breaks the connection of every watch. It is an action.
	CutWatches = "cut-watches"

	silence            = "silence"
	tooManyRequests    = "too-many-requests"
	internalError      = "internal-error"
	unavailable        = "unavailable"
	delay              = "delay"
	conflict           = "conflict"
	brokenGroup        = "broken-group"
	staleDiscovery     = "stale-discovery"
	policyDenies       = "policy-denies"
	conversionFails    = "conversion-fails"
	notAllowed         = "not-allowed"
	unreadable         = "unreadable"
	keepsCreating      = "keeps-creating"
	podStays           = "pod-stays"
	collectorStopped   = "collector-stopped"
	webhookDenies      = "webhook-denies"
	webhookUnreachable = "webhook-unreachable"
	forbid             = "forbid"
	staleReads         = "stale-reads"
	nodeLost           = "node-lost"
	expireContinue     = "expire-continue"
	withholdBookmarks  = "withhold-bookmarks"
	interruptStreams   = "interrupt-streaming-lists"
	repeatEvents       = "repeat-events"
	holdEvents         = "hold-events"
)

// Catalogue returns the kinds of faults, in the order in which they are best explained.
func Catalogue() []Kind { return slices.Clone(catalogue) }

type Kind struct {
	// Name is the first word of the order.
	Name string `json:"-"`
	// Usage is an example of an order.
	Usage string `json:"usage"`
	// Summary says in one sentence what the server does.
	Summary string `json:"summary"`
	// Teaches says in a sentence or two what the fault demonstrates.
	Teaches string `json:"teaches"`
	// Options are the options of the kind, the most specific first.
	Options []Option `json:"-"`
	// Action reports that the fault happens once or periodically and does not last.
	Action bool `json:"-"`
}

type Option struct {
	Name string
	// Meaning describes the option, with its unit and default.
	Meaning string
}

// commonOptions are shared by several kinds.
var commonOptions = map[string][]Option{
	"scope": {
		{"verb", "only these verbs, list|watch for several; any"},
		{"group", "only these API groups, core for the one without a name; any"},
		{"resource", "only these resources, namespaces/finalize for a subresource; any"},
		{"namespace", "only these namespaces; any"},
		{"name", "only objects with these names; any"},
		{"user", "only these users; any"},
	},
	"share": {
		{"share", "the share of requests affected, 0.3 or 30%; all"},
		{"seed", "the seed of the random choice for share, an integer; 1"},
	},
	"count": {{"count", "ends after this many hits; no limit"}},
	"once":  {{"count", "ends after this many hits; 1"}},
	"for":   {{"for", "ends after this time, 30s; no limit"}},
	"every": {{"every", "repeats at this interval, 10s; once"}},
	// Every kind has these.
	"condition": {
		{"while", "active only while the object RESOURCE/NAME or RESOURCE/NAMESPACE/NAME exists; always"},
		{"unless", "inactive while the object RESOURCE/NAME or RESOURCE/NAMESPACE/NAME exists; never"},
		{"unless-ready", "active only while the Service NAMESPACE/NAME has no ready endpoint; always"},
	},
}

//go:embed catalogue.yaml
var catalogueText []byte

var catalogue = func() []Kind {
	var entries []struct {
		Kind   `yaml:",inline"`
		Common []string
	}
	if err := yaml.Unmarshal(catalogueText, &entries); err != nil {
		panic("faults: catalogue.yaml: " + err.Error())
	}
	kinds := make([]Kind, len(entries))
	for i, entry := range entries {
		kinds[i] = entry.Kind
		for _, name := range append(entry.Common, "condition") {
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

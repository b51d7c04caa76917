package faults

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"orrery/internal/lab/apiserver/resources"
)

// The kinds of faults, as they are written in an order.
const (
	// Compact makes the store forget its history. It is an action.
	Compact = "compact"
	// CutWatches breaks the connection of every watch. It is an action.
	CutWatches = "cut-watches"
	// KeepsCreating creates an object in a namespace, even a terminating one. It is an action.
	KeepsCreating = "keeps-creating"
	// Silence leaves watches half-open: they neither send nor end.
	Silence = "silence"
	// CollectorStopped stops the garbage collector.
	CollectorStopped = "collector-stopped"
	// Unreadable makes [Set.Unreadable] return errors.
	Unreadable = "unreadable"
	// RepeatEvents makes watches keep the events that they have sent.
	RepeatEvents = "repeat-events"

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
	podStays           = "pod-stays"
	webhookDenies      = "webhook-denies"
	webhookUnreachable = "webhook-unreachable"
	forbid             = "forbid"
	staleReads         = "stale-reads"
	nodeLost           = "node-lost"
	expireContinue     = "expire-continue"
	withholdBookmarks  = "withhold-bookmarks"
	interruptStreams   = "interrupt-streaming-lists"
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
	// Options are the names of the options of the kind, the most specific first.
	Options []string `json:"-"`
	// Action reports that the fault happens once or periodically and does not last.
	Action bool `json:"-"`
}

// commonOptions are shared by several kinds.
var commonOptions = map[string][]string{
	// Lists of alternatives such as list|watch, core for the group without a name; any.
	"scope": {"verb", "group", "resource", "namespace", "name", "user"},
	// The share of requests affected, 0.3 or 30%, and the seed of the random choice; all, 1.
	"share": {"share", "seed"},
	// It ends after this many hits or this time.
	"count": {"count"},
	"for":   {"for"},
	// It repeats at this interval; once.
	"every": {"every"},
	// Objects that must exist or not. Every kind has these.
	"condition": {"while", "unless", "unless-ready"},
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

func kindNames() string {
	var names []string
	for _, kind := range catalogue {
		names = append(names, kind.Name)
	}
	return strings.Join(names, ", ")
}

// hook is a webhook of a stored ValidatingWebhookConfiguration.
type hook struct {
	Name              string         `json:"name"`
	FailurePolicy     string         `json:"failurePolicy"`
	NamespaceSelector map[string]any `json:"namespaceSelector"`
	Rules             []struct {
		Operations []string `json:"operations"`
		APIGroups  []string `json:"apiGroups"`
		Resources  []string `json:"resources"`
	} `json:"rules"`
	ClientConfig struct {
		Service struct{ Namespace, Name string } `json:"service"`
	} `json:"clientConfig"`
}

// configuredLocked reports whether the write concerns a fault with the option configuration: a
// policy whose binding exists, or a webhook that kube-apiserver would ask about the write and
// whose failure would refuse it. It returns the failure.
func (f *fault) configuredLocked(r Request, objects Objects) (failure string, concerned bool) {
	name := f.options.Text("configuration", "")
	if name == "" || objects == nil {
		return connectionRefused, true
	}
	if f.kind == policyDenies {
		binding := objects.Stored("validatingadmissionpolicybindings", "", name)
		return "", binding != nil &&
			objects.Stored("validatingadmissionpolicies", "", binding.NestedString("spec", "policyName")) != nil
	}
	var configuration struct {
		Webhooks []hook `json:"webhooks"`
	}
	stored := objects.Stored("validatingwebhookconfigurations", "", name)
	if stored == nil {
		return "", false
	}
	text, err := json.Marshal(stored.Object)
	if err != nil || json.Unmarshal(text, &configuration) != nil {
		return "", false
	}
	for _, h := range configuration.Webhooks {
		if h.Name == f.webhook() && h.FailurePolicy != "Ignore" && h.about(r) && h.in(r, objects) {
			service := h.ClientConfig.Service
			if service.Name == "" { // it has a URL
				return connectionRefused, true
			}
			reason := fmt.Sprintf("no endpoints available for service %q", service.Name)
			if objects.Stored("services", service.Namespace, service.Name) == nil {
				reason = fmt.Sprintf("service %q not found", service.Name)
			}
			return fmt.Sprintf("Post \"https://%s.%s.svc:443/?timeout=10s\": %s", service.Name, service.Namespace,
				reason), true
		}
	}
	return "", false
}

// about reports whether a rule is about the write.
func (h hook) about(r Request) bool {
	operation := "UPDATE"
	switch r.Verb {
	case "create":
		operation = "CREATE"
	case "delete", "deletecollection":
		operation = "DELETE"
	}
	for _, rule := range h.Rules {
		if oneOf(rule.Operations, operation) && oneOf(rule.APIGroups, r.Group) &&
			slices.ContainsFunc(rule.Resources, r.isOf) {
			return true
		}
	}
	return false
}

// isOf reports whether a pattern of a webhook's rule, such as pods, */* or pods/status, is about
// the resource. A pattern without a slash is about no subresource.
func (r Request) isOf(pattern string) bool {
	resource, subresource, _ := strings.Cut(pattern, "/")
	return (resource == "*" || resource == r.Resource) && (subresource == "*" || subresource == r.Subresource)
}

// in reports whether the webhook selects the namespace of the object.
func (h hook) in(r Request, objects Objects) bool {
	selected, err := resources.ParseLabelSelector(h.NamespaceSelector)
	namespace := objects.Stored("namespaces", "", r.namespace())
	return err == nil && (selected.Empty() || namespace == nil || selected.Matches(namespace.GetLabels()))
}

func oneOf(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

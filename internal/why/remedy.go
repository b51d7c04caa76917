package why

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"orrery/internal/words"
)

// Remedy is one way to end a cause.
type Remedy struct {
	Command string `json:"command"`
	// When says when to run the command, if that is not at once: "when the namespace is gone".
	When string `json:"when,omitempty"`
	// Loses says what is lost or stays behind; empty for a safe remedy.
	Loses string `json:"loses,omitempty"`

	// ifProven: the remedy of a finding that is not proven does not have it.
	ifProven bool
}

// whenGone is When of a command that undoes what another one has changed for the time being.
const whenGone = "when the namespace is gone"

// StaysBehind is how Loses begins if a finalizer is removed.
const StaysBehind = "this stays behind: "

// removal is the JSON patch that removes a finalizer from an object's metadata. It tests UID,
// resourceVersion and finalizer first.
func removal(o Object, finalizer string) string {
	at := fmt.Sprintf("/metadata/finalizers/%d", slices.Index(o.Finalizers, finalizer))
	test := func(path, value string) map[string]string {
		return map[string]string{"op": "test", "path": path, "value": value}
	}
	patch, err := json.Marshal([]map[string]string{
		test("/metadata/uid", o.UID), test("/metadata/resourceVersion", o.ResourceVersion), test(at, finalizer),
		{"op": "remove", "path": at},
	})
	if err != nil {
		panic(err) // it has only strings
	}
	return string(patch)
}

// ClusterFlags returns the flags that name a cluster to kubectl and to this program; "" for the
// default cluster.
func ClusterFlags(kubeconfig, context string) string {
	var flags []string
	for name, value := range map[string]string{"--context ": context, "--kubeconfig ": kubeconfig} {
		if value != "" {
			flags = append(flags, name+quoted(value))
		}
	}
	slices.Sort(flags)
	return strings.Join(flags, " ")
}

// forCluster matches the programs that act on a cluster, where a command begins: in a text also
// after a colon or semicolon.
var forCluster = lazyPattern(`(^|[:;|] )(kubectl|orrery run|orrery why)( |$)`)

// inCluster puts the flags that name the cluster into every command of a text of this package:
// without them, a command would act on the default cluster.
func (e *Evidence) inCluster(text literal) string {
	if e.Cluster == "" {
		return string(text)
	}
	return forCluster().ReplaceAllString(string(text), "${1}${2} "+strings.ReplaceAll(e.Cluster, "$", "$$")+"${3}")
}

// literal is a text that stands in this program. A string that came from a server cannot become one
// by itself.
type literal string

// kubectl returns a command line. Each %s of the form is one word, which is quoted: whatever a
// server calls an object, it stays a word. A word that looks like a flag is joined with the one
// before it, as type/name.
func (e *Evidence) kubectl(namespace string, form literal, words ...string) string {
	program := strings.TrimSuffix("kubectl "+e.Cluster, " ")
	parts := []string{program}
	if namespace != "" {
		parts = append(parts, "-n", quoted(namespace))
	}
	for part := range strings.SplitSeq(string(form), " ") {
		if part == "kubectl" { // after a pipe
			part = program
		} else if part == "%s" && strings.HasPrefix(words[0], "-") {
			parts[len(parts)-1] += "/" + quoted(words[0])
			words = words[1:]
			continue
		} else if strings.Contains(part, "%s") {
			part = strings.Replace(part, "%s", quoted(words[0]), 1)
			words = words[1:]
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

// quoted returns a word for a shell, on one line.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-._:/=,", r)
	}
	if word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(words.OneLine(word), "'", `'\''`) + "'"
}

// offerRelease adds the removal of a held finalizer; with ifProven a finding that is not proven
// does not have it.
func (f *Finding) offerRelease(e *Evidence, h Held, when string, ifProven bool) {
	namespace := e.Name
	if h.Type == namespaceType {
		namespace = ""
	}
	command := e.kubectl(namespace, "patch %s %s --type=json -p %s", h.Type.Name(), h.Object.Name,
		removal(h.Object, h.Finalizer))
	f.Remedies = append(f.Remedies, Remedy{Command: command, When: when, Loses: h.loses(), ifProven: ifProven})
}

// loses says what the removal of the finalizer leaves behind.
func (h Held) loses() string {
	return StaysBehind + cmp.Or(h.Keeper().Protects, "what "+h.Finalizer+" protects")
}

// complete completes the remedies of a finding: those that only read or repair come first.
func (e *Evidence) complete(f *Finding) {
	remedies := []Remedy{}
	if isQuoted(f.Culprit.Resource) ||
		slices.ContainsFunc(f.Blocks, func(b Blocked) bool { return isQuoted(b.Resource) }) {
		f.Remedies = remedies
		return
	}
	for _, command := range e.commands(f) {
		remedies = append(remedies, Remedy{Command: command})
	}
	for _, r := range f.Remedies {
		if !r.ifProven || f.Certainty == Proven || f.isAbsence() && len(f.Missing) == 0 {
			remedies = append(remedies, r)
		}
	}
	slices.SortStableFunc(remedies, func(a, b Remedy) int { return min(1, len(a.Loses)) - min(1, len(b.Loses)) })
	f.Remedies = remedies
}

// isQuoted reports whether the name of a type is one that [Type.Name] has quoted.
func isQuoted(resource string) bool { return strings.HasPrefix(resource, `"`) }

// commands returns the kubectl commands that show what to repair.
func (e *Evidence) commands(f *Finding) []string {
	of := func(form literal, words ...string) []string {
		return []string{e.kubectl(f.Culprit.Namespace, form, words...)}
	}
	switch f.ID {
	case "C19", "C17":
		return []string{e.kubectl(managerNamespace, "get pods -l component=kube-controller-manager"),
			e.kubectl(managerNamespace, "get leases")}
	case "C20":
		return of("get namespace %s -o yaml --show-managed-fields", e.Name)
	case "C21":
		return of("get clusterrole,clusterrolebinding system:controller:namespace-controller -o yaml")
	case "C07", "C08":
		if !e.Webhooks.Known() && strings.HasSuffix(f.Culprit.Resource, "webhookconfigurations") {
			return of("get validatingwebhookconfigurations,mutatingwebhookconfigurations")
		}
	case "C11":
		if e.node(f.Culprit.Name) == nil {
			return []string{e.kubectl("", "get nodes"), e.kubectl(e.Name, "get pods -o wide")}
		}
	case "C10", "C27":
		return []string{e.kubectl("", "get namespace %s -w", e.Name)}
	case "C22", "C23", "C28":
		return of("get %s -o yaml --show-managed-fields", f.Culprit.Resource)
	case notStuckID:
		return nil
	case missingRightsID:
		return append(of("auth whoami"), e.inCluster("orrery rbac --for why --user NAME | kubectl apply -f -"))
	}
	return of("describe %s %s", f.Culprit.Resource, f.Culprit.Name)
}

// WritePlan writes kubectl's commands for people, in the order of the findings, the safe ones of
// each first. Findings of one cause about one object have a command once, also those of several
// namespaces.
func WritePlan(w io.Writer, reports ...Report) error {
	var text strings.Builder
	written, last := map[string]bool{}, ""
	for _, report := range reports {
		for _, f := range report.Findings {
			head := fmt.Sprintf("\n%s  %s\n", f.ID, f.Culprit.whole())
			for _, r := range f.Remedies {
				if written[head+r.Command] {
					continue
				}
				written[head+r.Command] = true
				if head != last {
					text.WriteString(head)
					last = head
				}
				if r.Loses != "" {
					fmt.Fprintf(&text, "  ⚠ last resort, %s:\n", words.OneLine(r.loss()))
				}
				if r.When != "" {
					fmt.Fprintf(&text, "  %s:\n", r.When)
				}
				fmt.Fprintf(&text, "  %s\n", r.Command)
			}
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// loss returns what the remedy loses, as a clause.
func (r Remedy) loss() string {
	if strings.HasPrefix(r.Loses, StaysBehind) {
		return r.Loses
	}
	return "loses " + r.Loses
}

package why

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Remedy is one way to end a cause.
type Remedy struct {
	Command string `json:"command" yaml:"command"`
	// When says when to run the command, if that is not at once: "when the namespace is gone".
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// Loses says what is lost or stays behind; empty for a safe remedy.
	Loses string `json:"loses,omitempty" yaml:"loses,omitempty"`

	// ifProven: the remedy of a finding that is not proven does not have it.
	ifProven bool
}

// insteadOf is When of a command that tests an object's version, if an earlier one changes that.
const insteadOf = "instead of the removal above, after which --fix prints this one anew"

// whenGone is When of a command that undoes what another one has changed for the time being.
const whenGone = "when the namespace is gone"

// StaysBehind is how Loses begins if a finalizer is removed.
const StaysBehind = "this stays behind: "

// removal is the JSON patch that removes a finalizer from an object's metadata. It tests UID,
// resourceVersion and finalizer first.
func removal(o Object, finalizer string) string {
	at := fmt.Sprintf("/metadata/finalizers/%d", slices.Index(o.Finalizers, finalizer))
	patch, err := json.Marshal([]operation{
		{"test", "/metadata/uid", o.UID}, {"test", "/metadata/resourceVersion", o.ResourceVersion},
		{"test", at, finalizer}, {Op: "remove", Path: at},
	})
	if err != nil {
		panic(err) // it has only strings
	}
	return string(patch)
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// ClusterFlags returns the flags that name a cluster to kubectl and to this program; "" for the
// default cluster.
func ClusterFlags(kubeconfig, context string) string {
	var flags []string
	for name, value := range map[string]string{"--context ": context, "--kubeconfig ": kubeconfig} {
		if value != "" {
			flags = append(flags, name+Quoted(value))
		}
	}
	slices.Sort(flags)
	return strings.Join(flags, " ")
}

// forCluster matches the programs that act on a cluster, where a command begins: in a text also
// after a colon or semicolon.
var forCluster = lazyPattern(`(^|[:;|] )(kubectl|orrery run|orrery why)( |$)`)

// UseCluster puts flags that name the cluster into every command of the report: without them, a
// command would act on the default cluster.
func (r *Report) UseCluster(flags string) {
	if flags == "" {
		return
	}
	with := func(text string) string {
		return forCluster().ReplaceAllString(text, "${1}${2} "+strings.ReplaceAll(flags, "$", "$$")+"${3}")
	}
	r.Findings = slices.Clone(r.Findings) // a copy of the report stays as it is
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Do, f.Remedies = slices.Clone(f.Do), slices.Clone(f.Remedies)
		for j := range f.Do {
			f.Do[j] = with(f.Do[j])
		}
		for j := range f.Remedies {
			f.Remedies[j].Command = with(f.Remedies[j].Command)
		}
	}
}

// kubectl returns a command line. The words are quoted already.
func kubectl(namespace string, words ...string) string {
	if namespace != "" {
		words = append([]string{"-n", namespace}, words...)
	}
	for i := len(words) - 1; i > 0; i-- {
		if strings.HasPrefix(words[i], "'-") { // a name that looks like a flag
			words = slices.Concat(words[:i-1], []string{words[i-1] + "/" + words[i]}, words[i+1:])
		}
	}
	return "kubectl " + strings.Join(words, " ")
}

// Quoted returns a word for a shell.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._:/=", r)
	}
	if word != "" && word[0] != '-' && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// offerRelease adds the removal of a held finalizer, whose owner is gone: only a proven finding has
// it.
func (f *Finding) offerRelease(e *Evidence, h Held) {
	f.Remedies = append(f.Remedies, Remedy{Command: e.release(h), Loses: h.loses(), ifProven: true})
}

// printRelease adds the removal of a held finalizer, whether the finding is proven or not.
func (f *Finding) printRelease(e *Evidence, h Held) {
	f.Remedies = append(f.Remedies, Remedy{Command: e.release(h), Loses: h.loses()})
}

// loses says what the removal of the finalizer leaves behind.
func (h Held) loses() string {
	keeper, _ := h.Keeper()
	return StaysBehind + orElse(keeper.Protects, "what "+h.Finalizer+" protects")
}

// release is the command that removes a held finalizer.
func (e *Evidence) release(h Held) string {
	namespace := e.Name
	if h.Type.Resource == "namespaces" && h.Type.Group == "" {
		namespace = ""
	}
	return kubectl(namespace, "patch", h.Type.Name(), Quoted(h.Object.Name), "--type=json", "-p", Quoted(removal(h.Object, h.Finalizer)))
}

// complete completes the remedies of a finding: those that only read or repair come first.
func (e *Evidence) complete(f *Finding) {
	remedies := []Remedy{}
	for _, command := range e.commands(f) {
		remedies = append(remedies, Remedy{Command: command})
	}
	for _, r := range f.Remedies {
		if !r.ifProven || f.Certainty == Proven {
			remedies = append(remedies, r)
		}
	}
	slices.SortStableFunc(remedies, func(a, b Remedy) int { return min(1, len(a.Loses)) - min(1, len(b.Loses)) })
	f.Remedies = remedies
}

// oneRemovalEach says of every removal of a finalizer but the first from an object that it does not
// work after that one: the object has another version then, and its list other positions.
func oneRemovalEach(findings []Finding) {
	seen := map[string]bool{}
	for _, f := range findings {
		for i := range f.Remedies {
			object, _, isPatch := strings.Cut(f.Remedies[i].Command, " --type=json ")
			if !isPatch {
				continue
			}
			if seen[object] {
				f.Remedies[i].When = insteadOf
			}
			seen[object] = true
		}
	}
}

// commands returns the kubectl commands that show what to repair, or repair it without loss.
func (e *Evidence) commands(f *Finding) (commands []string) {
	culprit := kubectl(f.Culprit.Namespace, "describe", f.Culprit.Resource, Quoted(f.Culprit.Name))
	services := func(s *Service) {
		if s != nil {
			commands = append(commands, kubectl(s.Namespace, "get service", Quoted(s.Name)),
				kubectl(s.Namespace, "get endpointslices -l", Quoted("kubernetes.io/service-name="+s.Name)))
		}
	}
	switch f.ID {
	case "C19", "C17":
		return []string{"kubectl -n kube-system get pods -l component=kube-controller-manager", "kubectl -n kube-system get leases"}
	case "C20":
		return []string{kubectl("", "get namespace", e.Name, "-o yaml --show-managed-fields")}
	case "C21":
		for _, b := range f.Blocks {
			commands = append(commands, kubectl(e.Name, "auth can-i delete", b.Resource, "--as", Quoted(f.Culprit.Name)))
		}
		return append(commands, "kubectl get clusterrole,clusterrolebinding system:controller:namespace-controller -o yaml")
	case "C01", "C02", "C03":
		for _, a := range e.APIServices.Items {
			if a.Name == f.Culprit.Name {
				services(a.Service)
			}
		}
		return append([]string{culprit}, commands...)
	case "C07", "C08":
		if !e.Webhooks.Known() && strings.HasSuffix(f.Culprit.Resource, "webhookconfigurations") {
			return []string{"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"}
		}
		for _, hook := range e.Webhooks.Items {
			if hook.Configuration == f.Culprit.Name && hook.Resource == f.Culprit.Resource {
				services(hook.Service)
			}
		}
		for _, b := range f.Blocks {
			commands = append(commands, kubectl(e.Name, "get", b.Resource))
		}
		return append([]string{culprit}, commands...)
	case "C09":
		for _, d := range e.Definitions.Items {
			if d.Name == f.Culprit.Name {
				services(d.Converter)
			}
		}
		return append([]string{culprit}, commands...)
	case "C04", "C05":
		if slices.ContainsFunc(f.Remedies, func(r Remedy) bool { return r.Loses == "" }) {
			return nil
		}
	case "C11":
		if e.node(f.Culprit.Name) == nil {
			return []string{"kubectl get nodes", kubectl(e.Name, "get pods -o wide")}
		}
	case "C10", "C27":
		return []string{kubectl("", "get namespace", e.Name, "-w")}
	case "C22", "C23":
		return []string{kubectl(f.Culprit.Namespace, "get", f.Culprit.Resource)}
	case "C28":
		return []string{kubectl(f.Culprit.Namespace, "get", f.Culprit.Resource, "-o custom-columns='NAME:.metadata.name,CREATED:.metadata.creationTimestamp,BY:.metadata.managedFields[*].manager'")}
	case notStuckID:
		return nil
	case missingRightsID:
		return []string{"kubectl auth whoami", "orrery rbac --for why --user NAME | kubectl apply -f -"}
	}
	return []string{culprit}
}

package why

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Remedy is one way to end a cause.
type Remedy struct {
	// Digest binds the remedy to the cluster, the cause, the object and the verdict. It is empty
	// for a remedy that is only printed.
	Digest  string `json:"digest,omitempty" yaml:"digest,omitempty"`
	Command string `json:"command" yaml:"command"`
	// When says when to run the command, if that is not at once: "when the namespace is gone".
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// Loses says what is lost or stays behind; empty for a safe remedy.
	Loses string `json:"loses,omitempty" yaml:"loses,omitempty"`
	// Write is the write of `orrery why --apply`; nil without a digest.
	Write *Write `json:"write,omitempty" yaml:"write,omitempty"`
}

// insteadOf is When of a command that tests an object's version, if an earlier one changes that.
const insteadOf = "instead of the removal above, after which --fix prints this one anew"

// whenGone is When of a command that undoes what another one has changed for the time being.
const whenGone = "when the namespace is gone"

// StaysBehind is how Loses begins if a finalizer is removed.
const StaysBehind = "this stays behind: "

// The lists of finalizers that an object has. Only namespaces have the second one.
const (
	MetadataFinalizers = "metadata.finalizers"
	SpecFinalizers     = "spec.finalizers"
)

// Write is one write to one object, bound to the state in the evidence.
type Write struct {
	// Cluster is the UID of the namespace kube-system. Cause is the finding's id, Verdict the
	// reason why the write is offered.
	Cluster string `json:"cluster" yaml:"cluster"`
	Cause   string `json:"cause" yaml:"cause"`
	Verdict string `json:"verdict" yaml:"verdict"`

	Group           string `json:"group,omitempty" yaml:"group,omitempty"`
	Version         string `json:"version" yaml:"version"`
	Resource        string `json:"resource" yaml:"resource"`
	Namespace       string `json:"namespace,omitempty" yaml:"namespace,omitempty"`
	Name            string `json:"name" yaml:"name"`
	UID             string `json:"uid" yaml:"uid"`
	ResourceVersion string `json:"resourceVersion" yaml:"resourceVersion"`

	// List is the list from which Finalizer is removed, and Index its position. With an empty List
	// the object is deleted.
	List      string `json:"list,omitempty" yaml:"list,omitempty"`
	Finalizer string `json:"finalizer,omitempty" yaml:"finalizer,omitempty"`
	Index     int    `json:"index,omitempty" yaml:"index,omitempty"`
}

// Digest returns the cause and 12 hexadecimal digits that depend on every field. It returns "" if
// the evidence has too little to bind the write to.
func (w *Write) Digest() string {
	if w == nil || slices.Contains([]string{w.Cluster, w.Cause, w.Verdict, w.Resource, w.Name, w.UID, w.ResourceVersion}, "") {
		return ""
	}
	text, err := json.Marshal(w)
	if err != nil {
		panic(err) // it has only strings and a number
	}
	sum := sha256.Sum256(text)
	return w.Cause + "-" + hex.EncodeToString(sum[:6])
}

// Patch returns the JSON patch that removes the finalizer from the metadata. It tests UID,
// resourceVersion and finalizer first.
func (w *Write) Patch() []byte {
	at := fmt.Sprintf("/metadata/finalizers/%d", w.Index)
	patch, err := json.Marshal([]operation{
		{"test", "/metadata/uid", w.UID}, {"test", "/metadata/resourceVersion", w.ResourceVersion},
		{"test", at, w.Finalizer}, {Op: "remove", Path: at},
	})
	if err != nil {
		panic(err) // it has only strings
	}
	return patch
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// command returns the kubectl command that does the same.
func (w *Write) command() string {
	object := []string{Type{Group: w.Group, Resource: w.Resource}.Name(), Quoted(w.Name)}
	switch w.List {
	case MetadataFinalizers:
		return kubectl(w.Namespace, "patch", object[0], object[1], "--type=json", "-p", Quoted(string(w.Patch())))
	case SpecFinalizers:
		without := Quoted(fmt.Sprintf(".spec.finalizers -= [%q]", w.Finalizer))
		return kubectl("", "get namespace", object[1], "-o json | jq", without, "| kubectl replace --raw /api/v1/namespaces/"+w.Name+"/finalize -f -")
	}
	return kubectl(w.Namespace, "delete", object[0], object[1])
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

// offer adds a write to a finding as its last resort. completed keeps it only if the finding is
// proven.
func (f *Finding) offer(e *Evidence, loses string, w Write) {
	w.Cluster = e.Cluster
	f.Remedies = append(f.Remedies, Remedy{Command: w.command(), Loses: loses, Write: &w})
}

// offerRelease adds the removal of a held finalizer, whose owner is gone.
func (f *Finding) offerRelease(e *Evidence, h Held) {
	f.offer(e, h.loses(), e.release(h))
}

// printRelease adds the command that removes a held finalizer. It has no digest: whether the owner
// is gone is not known.
func (f *Finding) printRelease(e *Evidence, h Held) {
	w := e.release(h)
	f.Remedies = append(f.Remedies, Remedy{Command: w.command(), Loses: h.loses()})
}

// loses says what the removal of the finalizer leaves behind.
func (h Held) loses() string {
	keeper, _ := h.Keeper()
	return StaysBehind + orElse(keeper.Protects, "what "+h.Finalizer+" protects")
}

// release is the removal of a held finalizer.
func (e *Evidence) release(h Held) Write {
	w := Write{
		Verdict: "the owner of " + h.Finalizer + " is gone", Group: h.Type.Group, Version: h.Type.Version, Resource: h.Type.Resource,
		Namespace: e.Name, Name: h.Object.Name, UID: h.Object.UID, ResourceVersion: h.Object.ResourceVersion,
		List: MetadataFinalizers, Finalizer: h.Finalizer, Index: slices.Index(h.Object.Finalizers, h.Finalizer),
	}
	if h.Type.Resource == "namespaces" && h.Type.Group == "" {
		w.Namespace = ""
	}
	return w
}

// bound completes the remedies of a finding: those that only read or repair come first. A write has
// a digest if the finding is proven.
func (e *Evidence) bound(f *Finding) {
	remedies := []Remedy{}
	for _, command := range e.commands(f) {
		remedies = append(remedies, Remedy{Command: command})
	}
	for _, r := range f.Remedies {
		if r.Write != nil {
			if f.Certainty != Proven {
				continue
			}
			r.Write.Cause = f.ID
			r.Digest = r.Write.Digest()
		}
		remedies = append(remedies, r)
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

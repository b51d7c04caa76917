package secondcontroller

import (
	"slices"
	"strings"

	"orrery/restclient/api"
)

// What kube-controller-manager goes by, where it runs and how its pods are labelled.
const (
	managerName     = "kube-controller-manager"
	systemNamespace = "kube-system"
	managerLabel    = "component=" + managerName
)

// managerPod is as much of a pod as shows its command line and whether it runs.
type managerPod struct {
	Metadata api.ObjectMeta `json:"metadata"`
	Spec     struct {
		Containers []struct {
			Command []string `json:"command"`
			Args    []string `json:"args"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// ready tells whether the pod works, and goes on to.
func (p managerPod) ready() bool {
	if p.Metadata.DeletionTimestamp != nil {
		return false
	}
	for _, condition := range p.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True"
		}
	}
	return false
}

// controlsNamespaces tells whether the command line has the namespace controller on, as kube-controller-manager reads it: the first
// entry of --controllers that names it decides; without one, whether there is a "*"; without the flag all are on.
func (p managerPod) controlsNamespaces() bool {
	entries := p.controllers()
	for _, entry := range entries {
		switch entry {
		case "namespace-controller", "namespace":
			return true
		case "-namespace-controller", "-namespace":
			return false
		}
	}
	return len(entries) == 0 || slices.Contains(entries, "*")
}

// controllers are the entries of --controllers. The flag may be given more than once, and within the text of a shell command.
func (p managerPod) controllers() []string {
	var words []string
	for _, container := range p.Spec.Containers {
		for _, word := range slices.Concat(container.Command, container.Args) {
			words = append(words, strings.Fields(word)...)
		}
	}
	var entries []string
	for i, word := range words {
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if name != "controllers" || !strings.HasPrefix(word, "-") {
			continue
		}
		if !given && i+1 < len(words) {
			value = words[i+1]
		}
		for entry := range strings.SplitSeq(value, ",") {
			entries = append(entries, strings.Trim(entry, `"' `))
		}
	}
	return entries
}

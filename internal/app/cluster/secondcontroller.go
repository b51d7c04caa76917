// Package cluster is what the deployable asks of its cluster besides its work: the rights that it
// needs ([ControllerRights], [WhyRights]), whether a controller of kube-controller-manager already
// works there ([Look]), and who leads and what terminates ([ReadStatus]). It sends only GET
// requests. Times in the cluster are compared with the clock of the API server, never with the
// local one.
package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Verdict is the answer to whether another controller of the same kind works.
type Verdict string

// The verdicts, by increasing certainty.
const (
	// Unknown: nothing could be read.
	Unknown Verdict = ""
	// Possible: kube-controller-manager renews its Lease, and nothing readable shows whether its
	// namespace controller is on.
	Possible Verdict = "possible"
	// Absent: there is none.
	Absent Verdict = "absent"
	// Present: there is one, and it works.
	Present Verdict = "present"
)

// Evidence is a verdict with its reason.
type Evidence struct {
	Verdict Verdict
	// How is the reason, and SwitchOff how to switch the other controller off; both are parts of a
	// sentence. SwitchOff is empty unless the verdict is Present or Possible.
	How, SwitchOff string
}

// The names of kube-controller-manager, its namespace and its pods' labels.
const (
	managerName     = "kube-controller-manager"
	systemNamespace = "kube-system"
	managerLabel    = "component=" + managerName
)

// The version suffixes of the API server in memory.
const (
	servedAlone = "+orrery"
	servedDemo  = "+orrery.demo"
)

// recently is the maximum age of a namespace's status for its writer to count as working. It is at
// most the time of a restart of kube-controller-manager, so that a controller that was just
// switched off is not found.
const recently = 15 * time.Second

// Controller is a controller of kube-controller-manager. Alias is an older name, or empty.
type Controller struct{ Name, Alias string }

// NamespaceController is kube-controller-manager's namespace controller.
var NamespaceController = Controller{Name: "namespace-controller", Alias: "namespace"}

// is reports whether the controller has a name, which is an entry of --controllers.
func (c Controller) is(name string) bool { return name == c.Name || c.Alias != "" && name == c.Alias }

// Look searches the cluster for a controller of kube-controller-manager. Two namespace controllers
// do no harm, but their work cannot be distinguished; two controllers of replica sets create too
// many pods. No API reports whether a controller is on, so Look collects evidence, as an operator
// would with kubectl, and the first decides:
//
//	the server's version     the server in memory names the controllers it runs
//	pods in kube-system      the command line of kube-controller-manager has --controllers, if its pod is visible
//	namespaces               kube-controller-manager recently wrote the conditions of a terminating namespace
//	its Lease                kube-controller-manager renews it, but its command line is not visible
//
// A missing right means one piece of evidence less, and [Unknown] is a verdict: the caller decides
// what to do then. Look fails only if ctx ends.
func Look(ctx context.Context, client *restclient.Client, controller Controller) (Evidence, error) {
	l := looker{client: client, Controller: controller}
	for _, look := range []func(context.Context) Evidence{l.version, l.pods, l.namespaces, l.lease} {
		evidence := look(ctx)
		if ctx.Err() != nil {
			return Evidence{}, ctx.Err()
		}
		if evidence.Verdict != Unknown {
			return evidence, nil
		}
	}
	return Evidence{How: "neither the pod nor the Lease of kube-controller-manager can be seen in " +
		systemNamespace}, nil
}

// looker reads from a server.
type looker struct {
	Controller
	client *restclient.Client
}

// get is the function get. ok is false if the document cannot be read.
func (l looker) get(ctx context.Context, path string, query url.Values, into any) (now time.Time, ok bool) {
	now, err := get(ctx, l.client, path, query, into)
	return now, err == nil
}

// version recognises the API server in memory, which has a namespace controller only in a demo.
func (l looker) version(ctx context.Context) Evidence {
	var version api.VersionInfo
	l.get(ctx, "/version", nil, &version)
	switch {
	case strings.HasSuffix(version.GitVersion, servedDemo) && l.Name != NamespaceController.Name:
		return Evidence{Verdict: Absent,
			How: `the server is that of "lab demo", which runs a namespace controller and nothing else`}
	case strings.HasSuffix(version.GitVersion, servedDemo):
		return Evidence{Present, `the server is that of "lab demo", which runs a namespace controller itself`,
			`use "lab serve", which runs none`}
	case strings.HasSuffix(version.GitVersion, servedAlone):
		return Evidence{Verdict: Absent, How: `the server is "lab serve", which has none`}
	}
	return Evidence{}
}

// pods reads the command line of kube-controller-manager if it runs in a visible pod: with kubeadm
// and its derivatives (minikube, kind), and wherever the control plane runs in static pods.
func (l looker) pods(ctx context.Context) Evidence {
	var list struct{ Items []managerPod }
	l.get(ctx, "/api/v1/namespaces/"+systemNamespace+"/pods", url.Values{"labelSelector": {managerLabel}}, &list)
	var without string
	for _, pod := range list.Items {
		switch name := systemNamespace + "/" + pod.Metadata.Name; {
		case !pod.ready():
		case pod.controls(l.Controller):
			return Evidence{Present,
				fmt.Sprintf("kube-controller-manager in the pod %s runs its own, by its command line", name),
				"start it with --controllers=" + l.without(pod.controllers()) + whereToWrite}
		default:
			without = name
		}
	}
	if without == "" {
		return Evidence{}
	}
	return Evidence{Verdict: Absent,
		How: fmt.Sprintf("kube-controller-manager in the pod %s runs without its own, by its command line", without)}
}

// namespaces looks for a terminating namespace whose conditions another controller wrote.
func (l looker) namespaces(ctx context.Context) Evidence {
	if l.Name != NamespaceController.Name {
		return Evidence{}
	}
	var list api.List[*api.Namespace]
	now, ok := l.get(ctx, "/api/v1/namespaces", terminating(), &list)
	if !ok {
		return Evidence{}
	}
	for _, namespace := range list.Items {
		entries, err := namespace.ManagedFields.Entries()
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if reportsDeletion(entry) && entry.Time != nil && now.Sub(entry.Time.Time) < recently {
				return Evidence{Present,
					fmt.Sprintf("%s wrote the status of the namespace %s, which is being deleted, at %s",
						entry.Manager, namespace.Name, entry.Time.UTC().Format(time.TimeOnly+" MST")),
					l.switchOff(entry.Manager)}
			}
		}
	}
	return Evidence{}
}

// reportsDeletion reports whether the entry is of another namespace controller: nothing else writes
// these conditions. It is called kube-controller-manager, or is a program that contains it
// (k3s, kubelite).
func reportsDeletion(entry api.ManagedFieldsEntry) bool {
	return entry.Subresource == "status" && entry.Manager != ownManager &&
		bytes.Contains(entry.FieldsV1, []byte(api.NamespaceContentRemaining))
}

// ownManager is this program's name in managedFields: its user agent up to the slash.
const ownManager = "orrery"

// lease reads whether kube-controller-manager is alive. It requests a list, for which the rights of
// a run suffice.
func (l looker) lease(ctx context.Context) Evidence {
	var list api.List[*api.Lease]
	query := url.Values{"fieldSelector": {"metadata.name=" + managerName}}
	now, ok := l.get(ctx, "/apis/coordination.k8s.io/v1/namespaces/"+systemNamespace+"/leases", query, &list)
	if !ok || len(list.Items) != 1 {
		return Evidence{}
	}
	lease := list.Items[0].Spec
	if lease.HolderIdentity == "" || lease.RenewTime == nil || lease.LeaseDurationSeconds == nil {
		return Evidence{}
	}
	expires := lease.RenewTime.Add(time.Duration(*lease.LeaseDurationSeconds) * time.Second)
	if expires.Before(now) {
		return Evidence{}
	}
	return Evidence{Possible,
		fmt.Sprintf("kube-controller-manager is alive, its Lease %s/%s was renewed at %s, and nothing shows "+
			"whether its %s is on",
			systemNamespace, managerName, lease.RenewTime.UTC().Format(time.TimeOnly+" MST"),
			strings.ReplaceAll(l.Name, "-", " ")), l.switchOff(managerName)}
}

// whereToWrite ends SwitchOff for a real cluster.
const whereToWrite = " (docs/operate/running.md says where)"

// without returns the entries of --controllers with this controller excluded. It keeps the others:
// kubeadm and minikube list bootstrapsigner and tokencleaner, which "*" does not include.
func (l looker) without(entries []string) string {
	if len(entries) == 0 {
		entries = []string{"*"}
	}
	kept := slices.DeleteFunc(slices.Clone(entries), func(entry string) bool {
		return l.is(strings.TrimPrefix(entry, "-"))
	})
	return strings.Join(append(kept, "-"+l.Name), ",")
}

// switchOff returns how to switch the controller off in a program whose command line cannot be
// read. It is known for k3s and microk8s.
func (l looker) switchOff(manager string) string {
	switch manager {
	case "k3s":
		return "start k3s with --kube-controller-manager-arg=controllers=" + l.without(nil) + whereToWrite
	case "kubelite":
		return "write --controllers=" + l.without(nil) + " into args/kube-controller-manager of microk8s" + whereToWrite
	}
	return "add -" + l.Name + " to the --controllers of " + managerName + ", or \"*,-" + l.Name + "\" if it has none" +
		whereToWrite
}

// managerPod has the fields of a pod for its command line and readiness.
type managerPod struct {
	Metadata api.ObjectMeta `json:"metadata"`
	Spec     struct {
		Containers []struct {
			Name    string   `json:"name"`
			Image   string   `json:"image"`
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

// ready reports whether the pod is ready and not being deleted.
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

// controls reports whether the command line enables a controller.
func (p managerPod) controls(c Controller) bool { return !why.SwitchedOff(p.controllers(), c.Name) }

// controllers returns the entries of --controllers of kube-controller-manager: a container beside
// it may have a flag of that name.
func (p managerPod) controllers() []string {
	var entries []string
	for _, container := range p.Spec.Containers {
		line := slices.Concat(container.Command, container.Args)
		if why.RunsManager(container.Name, container.Image, line) {
			entries = append(entries, why.ControllersFlag(line)...)
		}
	}
	return entries
}

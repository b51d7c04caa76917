package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"orrery/internal/words"
)

// This file has the pods that end late because of their node: C11 and C12.

// byNode groups pods by their node; judge returns the finding for a node, ok false for none.
func (e *Evidence) byNode(late []Pod, judge func(node string, pods []Pod) (f Finding, ok bool)) []Finding {
	nodes, objects := map[string][]Pod{}, map[string][]Object{}
	for _, pod := range late {
		nodes[pod.Node] = append(nodes[pod.Node], pod)
		objects[pod.Node] = append(objects[pod.Node], pod.Object)
	}
	delete(nodes, "")
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if f, ok := judge(name, nodes[name]); ok {
			f.Blocks = e.pods().blocks(len(nodes[name]), objects[name]...)
			findings = append(findings, f)
		}
	}
	return findings
}

// node returns a node, nil if it does not exist.
func (e *Evidence) node(name string) *Node {
	return find(e.Nodes.Items, func(n Node) bool { return n.Name == name })
}

func onLostNode(e *Evidence) []Finding {
	return e.byNode(e.late(), func(name string, pods []Pod) (Finding, bool) {
		f := Finding{Culprit: Reference{Resource: "nodes", Name: name}}
		stay := words.Count(len(pods), "pod")
		f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago",
			pods[0].Name, clock(pods[0].Deleted), words.Duration(e.now().Sub(pods[0].Deleted)))
		node := e.node(name)
		switch {
		case !e.Nodes.Known():
			f.lack(e.Nodes.Failed, "node %s could not be read", name)
			f.Says = fmt.Sprintf("%s on node %s did not end in time", stay, name)
		case node == nil:
			f.saw(1, e.Nodes.Request, "node %s does not exist", name)
			f.doubt(e.now().Sub(pods[0].Deleted) < orphanedWithin,
				"the pod garbage collector deletes the pods of such a node, and may not have come to them")
			f.lackDeletionsOfPods(e, "pod garbage collector")
			f.Says = fmt.Sprintf("%s cannot end, because node %s is gone", stay, name)
		case node.Ready == "True", node.Ready == "": // without the condition it may be starting
			return f, false
		case node.Ready == "False":
			f.saw(1, e.Nodes.Request, "node %s: Ready=False since %s", name, clock(node.Since))
			f.Says = fmt.Sprintf("%s did not end in time on node %s, which is not ready", stay, name)
			f.lack(nil,
				"the kubelet of %s answers, and may still end its pods: the node's conditions say what it lacks", name)
		default:
			taint := e.kubectl("", "taint nodes %s "+outOfService, name)
			f.saw(1, e.Nodes.Request, "node %s: Ready=%s since %s", name, node.Ready, clock(node.Since))
			f.Says = fmt.Sprintf("%s cannot end, because node %s does not answer", stay, name)
			f.unread(e.NodeLeases.Failed, "whether its kubelet renews its Lease could not be read")
			lease := e.kubelet(name)
			f.doubt(lease != nil && !lease.Expired(e.now()), "its kubelet renews its Lease, and may be back")
			f.Remedies = append(f.Remedies,
				Remedy{Command: taint, When: "only after you have verified that the machine is off"},
				Remedy{Command: taint + "-", When: "when the node is back"},
			)
		}
		return f, true
	})
}

// overdue describes a pod past its deletionTimestamp that a Ready node still runs, for no reason
// that was seen. It returns "" for none.
func (e *Evidence) overdue() string {
	for _, pod := range e.late() {
		node := e.node(pod.Node)
		if node == nil || node.Ready != "True" || e.now().Sub(pod.Deleted) < tearDown {
			continue
		}
		return fmt.Sprintf("pod %s should have ended %s ago, and node %s, which is Ready, still runs its container "+
			"%s: read the kubelet's log there",
			pod.Name, words.Duration(e.now().Sub(pod.Deleted)), pod.Node, listed(pod.Running))
	}
	return ""
}

// orphanedWithin is how long the pod garbage collector may take for the pods of a node that is
// gone.
const orphanedWithin = 2 * time.Minute

// tearDown is how long a kubelet may take for a pod after its grace period.
const tearDown = time.Minute

func notTornDown(e *Evidence) []Finding {
	return e.byNode(e.late(), func(name string, pods []Pod) (Finding, bool) {
		node := e.node(name)
		if node == nil || node.Ready != "True" {
			return Finding{}, false
		}
		overdue := slices.DeleteFunc(slices.Clone(pods), func(p Pod) bool {
			return len(p.Running) > 0 || e.now().Sub(p.Deleted) < tearDown
		})
		if len(overdue) == 0 {
			return Finding{}, false
		}
		pod := overdue[0]
		f := Finding{Culprit: Reference{Resource: "pods", Namespace: e.Name, Name: pod.Name}}
		f.Says = fmt.Sprintf("the kubelet of node %s cannot tear down pod %s", name, pod.Name)
		f.saw(1, e.pods().Request, "pod %s should have ended at %s, %s ago",
			pod.Name, clock(pod.Deleted), words.Duration(e.now().Sub(pod.Deleted)))
		f.saw(1, e.pods().Request, "none of its containers runs")
		f.saw(1, e.Nodes.Request, "node %s: Ready=True", name)
		f.lackDeletionsOfPods(e, "kubelet")
		f.doubt(e.moved(e.pods(), pod.Object),
			"pod %s has changed between the samples: its kubelet is at work", pod.Name)
		f.unread(e.NodeLeases.Failed, "whether the kubelet of node %s is alive could not be read", name)
		lease := e.kubelet(name)
		f.doubt(lease == nil && e.NodeLeases.Known() || lease != nil && lease.Expired(e.now()),
			"the Lease of node %s is not renewed: its kubelet may be dead", name)
		return f, true
	})
}

// kubelet returns the Lease of a node, which its kubelet renews; nil if it was not read.
func (e *Evidence) kubelet(node string) *Lease {
	return find(e.NodeLeases.Items, func(l Lease) bool { return l.Name == node })
}

// lackDeletionsOfPods adds to a finding about a pod that a webhook or a policy may refuse the
// deletion with which it ends.
func (f *Finding) lackDeletionsOfPods(e *Evidence, by string) {
	obstacle := e.decidesOnPods("DELETE")
	f.doubt(obstacle != "", "%s decides on deletions of pods, also on those of the %s", obstacle, by)
	f.unread(e.admissionUnread(), "whether a webhook or a policy decides on deletions of pods could not be read")
}

// decidesOnPods returns a webhook or a policy that selects an operation on pods, "" for none.
func (e *Evidence) decidesOnPods(operation string) string {
	for _, hook := range e.Webhooks.Items {
		if selects(hook.Rules, operation, e.pods()) && hook.NamespaceOnly.matches(e.labels()) {
			return "webhook " + hook.Name
		}
	}
	for _, policy := range e.Policies.Items {
		if selects(policy.Rules, operation, e.pods()) {
			return "policy " + policy.Name
		}
	}
	return ""
}

// admissionUnread is why the webhooks or the policies were not read, nil if they were.
func (e *Evidence) admissionUnread() *Failure {
	return cmp.Or(e.Webhooks.unread(), e.Policies.unread())
}

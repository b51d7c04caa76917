package chaos

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/examples/virtualmachine"
	"orrery/restclient"
	"orrery/restclient/api"
)

// NewControllersPlan draws the plan of a run with all controllers in one process. There are no
// other processes.
func NewControllersPlan(seed uint64, duration time.Duration) Plan {
	d := diceOf(seed, "controllers")
	p := Plan{
		Seed: seed, Duration: duration,
		TLS: d.chance(0.2), Window: oneOf(d, 0, 0, 200),
		AllControllers: true,
		Processes: []ProcessPlan{{
			Name:     "controllers",
			Watch:    oneOf(d, restclient.WatchHTTP, restclient.WatchHTTP, restclient.WatchWebSocket),
			Textbook: d.chance(0.3),
			Timeout:  oneOf(d, 15*time.Second, 30*time.Second),
			QPS:      oneOf[float32](d, -1, -1, 20),
			Gears:    oneOf(d, "fast", "textbook,reflector=fast"), // as in gearsOf
		}},
	}
	p.drawStorms()
	return p
}

// propagation is the propagation policy of a deletion; "" means the default of the type.
func propagation(d dice) string {
	return string(oneOf(d, "", api.DeletePropagationBackground, api.DeletePropagationForeground,
		api.DeletePropagationOrphan))
}

// drawApps draws a change of a Deployment, or of a ReplicaSet without one.
func drawApps(d dice, at time.Duration) []Step {
	s := Step{
		At: at, What: oneOf(d, Put, Put, Put, Delete, Release), N: d.IntN(1 << 20),
		On: fmt.Sprintf("%s/%s/a%d", oneOf(d, "deployments", "deployments", "replicasets"), drawSpace(d), d.IntN(2)),
	}
	switch s.What {
	case Put:
		s.Text = oneOf(d, "", "", "", "held")
	case Delete:
		s.Text = propagation(d)
	}
	return []Step{s}
}

// drawSpace draws a namespace: one that is deleted repeatedly, or one that stays.
func drawSpace(d dice) string { return oneOf(d, staying, "n"+strconv.Itoa(d.IntN(namespaceCount))) }

const staying = "default"

func drawMachine(d dice, at time.Duration) []Step {
	s := Step{
		At: at, What: oneOf(d, Put, Put, Put, Delete, Recreate, Release), N: d.IntN(1 << 20),
		On: fmt.Sprintf("virtualmachines/%s/v%d", drawSpace(d), d.IntN(2)),
	}
	if s.What == Put {
		s.Text = oneOf(d, "", "", "", "held")
	}
	return []Step{s}
}

// drawOwned draws an object whose owner may not exist, or the deletion of one with dependents.
// Cycles can occur.
func drawOwned(d dice, at time.Duration) []Step {
	s := Step{At: at, On: drawObject(d)}
	for strings.HasPrefix(s.On, "pods/") {
		s.On = drawObject(d)
	}
	if d.chance(0.6) {
		s.What, s.N, s.Text = Put, d.IntN(1<<20),
			fmt.Sprintf("owner=%s/o%d", oneOf(d, "configmaps", "configmaps", "widgets"), d.IntN(nameCount))
	} else {
		s.What, s.Text = Delete, propagation(d)
	}
	return []Step{s}
}

// drawSecondParty draws a change of a namespace that the second party holds too.
func drawSecondParty(d dice, at time.Duration) []Step {
	space := fmt.Sprintf("s%d", d.IntN(2))
	switch d.IntN(4) {
	case 0:
		return []Step{{At: at, What: CreateNamespace, On: "namespaces//" + space, Text: "second-party"}}
	case 1:
		return []Step{{At: at, What: DeleteNamespace, On: "namespaces//" + space}}
	default:
		return []Step{{At: at, What: Put, On: fmt.Sprintf("%s/%s/b%d", builds, space, d.IntN(3))}}
	}
}

// drawType draws the removal or creation of the virtual machine type.
func drawType(d dice, at time.Duration) []Step {
	return []Step{{At: at, What: oneOf(d, Put, Put, Put, Delete),
		On: customResources + "//virtualmachines.cloudnative.tw"}}
}

func machineDefinition() *api.Unstructured {
	o := &api.Unstructured{}
	if err := yaml.Unmarshal(virtualmachine.CustomResourceDefinition, &o.Object); err != nil {
		panic(err)
	}
	return o
}

// shape applies a step's fields other than labels to an object.
func (w *world) shape(o *api.Unstructured, resource string, s Step) {
	containers := []any{map[string]any{"name": "c", "image": fmt.Sprint("i", s.N%3)}}
	pods := map[string]any{"app": resource + "-" + o.GetName()}
	template := map[string]any{"metadata": map[string]any{"labels": pods},
		"spec": map[string]any{"containers": containers}}
	spec := map[string]any{"replicas": int64(s.N % 4), "selector": map[string]any{"matchLabels": pods},
		"template": template}
	switch resource {
	case "deployments":
		if o.GetName() == "a0" {
			spec["strategy"] = map[string]any{"type": "Recreate"}
		}
		o.Object["spec"] = spec
	case "replicasets":
		o.Object["spec"] = spec
	case "virtualmachines":
		o.Object["spec"] = map[string]any{"resource": map[string]any{"cpu": int64(1 + s.N%4), "memory": "1G"}}
	}
	owner, ok := strings.CutPrefix(s.Text, "owner=")
	if !ok {
		return
	}
	kind, name, _ := strings.Cut(owner, "/")
	reference := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": "never-was",
		"blockOwnerDeletion": s.N%2 == 0}
	if kind == "widgets" {
		reference["apiVersion"], reference["kind"] = "example.org/v1", "Widget"
	}
	if found, err := w.registry().Get(w.target(kind, o.GetNamespace(), name), api.GetOptions{}); err == nil {
		reference["uid"] = found.UID
	}
	o.Object["metadata"].(map[string]any)["ownerReferences"] = []any{reference}
}

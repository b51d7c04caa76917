package collect

import (
	"path"
	"slices"
	"strings"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// pod has the fields that are read of a Pod.
type pod struct {
	api.PartialObjectMetadata
	Spec   podSpec `json:"spec"`
	Status struct {
		Phase      string            `json:"phase"`
		Conditions conditions        `json:"conditions"`
		Init       []containerStatus `json:"initContainerStatuses"`
		Containers []containerStatus `json:"containerStatuses"`
		Ephemeral  []containerStatus `json:"ephemeralContainerStatuses"`
	} `json:"status"`
}

// podSpec is the specification of a pod, or of the pods of a workload.
type podSpec struct {
	NodeName       string      `json:"nodeName"`
	ServiceAccount string      `json:"serviceAccountName"`
	Containers     []container `json:"containers"`
	Volumes        []struct {
		Name  string `json:"name"`
		Claim *struct {
			Name string `json:"claimName"`
		} `json:"persistentVolumeClaim"`
		Ephemeral *struct{} `json:"ephemeral"`
	} `json:"volumes"`
}

type container struct {
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
}

func (c container) line() []string { return slices.Concat(c.Command, c.Args) }

// containerStatus has the state of a container by name: running, terminated or waiting.
type containerStatus struct {
	Name  string              `json:"name"`
	State map[string]struct{} `json:"state"`
}

func (s containerStatus) runs() bool {
	_, running := s.State["running"]
	return running
}

// mayRun reports whether a pod is going to run: it is neither finished nor deleted.
func (o *pod) mayRun() bool {
	return o.Status.Phase != "Succeeded" && o.Status.Phase != "Failed" && o.DeletionTimestamp == nil
}

// podOf returns a pod of the namespace.
func podOf(o *pod, object why.Object) why.Pod {
	p := why.Pod{Object: object, Node: o.Spec.NodeName}
	for _, volume := range o.Spec.Volumes {
		switch {
		case volume.Claim != nil:
			p.Claims = append(p.Claims, volume.Claim.Name)
		case volume.Ephemeral != nil: // the claim of a generic ephemeral volume is called like both
			p.Claims = append(p.Claims, o.Name+"-"+volume.Name)
		}
	}
	for _, status := range slices.Concat(o.Status.Init, o.Status.Containers, o.Status.Ephemeral) {
		if status.runs() {
			p.Running = append(p.Running, status.Name)
		}
	}
	return p
}

// managerOf appends a pod of kube-controller-manager that is not terminating.
func managerOf(kept []why.Manager, o *pod) []why.Manager {
	var entries []string // kube-controller-manager adds them up
	for _, c := range o.Spec.Containers {
		if why.RunsManager(c.Name, c.Image, c.line()) {
			entries = append(entries, why.ControllersFlag(c.line())...)
		}
	}
	if o.DeletionTimestamp != nil {
		return kept
	}
	return append(kept, why.Manager{
		Name: o.Name, Ready: o.Status.Conditions.get("Ready").Status == "True", Controllers: strings.Join(entries, ","),
		Created: o.CreationTimestamp.UTC(),
	})
}

// workload has the fields that are read of a Deployment, StatefulSet or DaemonSet.
type workload struct {
	api.PartialObjectMetadata
	Spec struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Conditions    conditions `json:"conditions"`
		ReadyReplicas int        `json:"readyReplicas"`
		NumberReady   int        `json:"numberReady"`
		NumberDesired int        `json:"desiredNumberScheduled"`
	} `json:"status"`
}

// workloadOf returns what a pod and the other workloads have in common.
func workloadOf(kind string, o *api.ObjectMeta, spec *podSpec, all conditions) why.Workload {
	w := why.Workload{
		Kind: kind, Namespace: o.Namespace, Name: o.Name, Replicas: 1, Since: o.CreationTimestamp.UTC(),
		ServiceAccount: spec.ServiceAccount,
	}
	for _, condition := range []string{"Available", "Ready"} {
		w.Since = later(w.Since, all.get(condition).Since.Time)
	}
	for _, c := range spec.Containers {
		image, _, _ := strings.Cut(path.Base(c.Image), ":")
		image, _, _ = strings.Cut(image, "@")
		w.Words = slices.Concat(w.Words, []string{c.Name, image}, programsOf(c.Command), programsOf(c.Args))
	}
	return w
}

func (o *workload) evidence(kind string) why.Workload {
	w := workloadOf(kind, &o.ObjectMeta, &o.Spec.Template.Spec, o.Status.Conditions)
	w.Ready = o.Status.ReadyReplicas + o.Status.NumberReady
	switch {
	case kind == "daemonset":
		w.Replicas = o.Status.NumberDesired
	case o.Spec.Replicas != nil:
		w.Replicas = *o.Spec.Replicas
	}
	if w.Replicas == 0 && o.Spec.Replicas != nil { // kubectl scale leaves no entry, and its effect a status
		w.Since = later(w.Since, lastWrite(o.ManagedFields, true))
	}
	return w
}

// appendPod appends a pod that runs or is going to.
func appendPod(kept []why.Workload, o *pod) []why.Workload {
	w := workloadOf(why.PodKind, &o.ObjectMeta, &o.Spec, o.Status.Conditions)
	if slices.ContainsFunc(o.Status.Containers, containerStatus.runs) {
		w.Ready = 1
	}
	if w.Ready == 0 && !o.mayRun() {
		return kept
	}
	return append(kept, w)
}

// programsOf returns the words of a command line that may be programs, without their folders. The
// word after a flag is its value, but for -c of a shell.
func programsOf(line []string) (programs []string) {
	const most = 8
	flag := ""
	for _, word := range strings.Fields(strings.Join(line, " ")) {
		isValue := strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && flag != "-c"
		if !isValue && !strings.ContainsAny(word[:1], "-$\"'") && !strings.Contains(word, "=") && len(programs) < most {
			programs = append(programs, path.Base(word))
		}
		flag = word
	}
	return programs
}

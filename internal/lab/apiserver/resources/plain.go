package resources

import (
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// plain says in what a type without code of its own differs from the plainest one. The zero value is a type without
// generation, that an update does not create, and whose updates need no resourceVersion.
type plain struct {
	// generation says whether the changes of the object outside of its metadata and status are counted.
	generation counting
	// createOnUpdate and conditional are AllowCreateOnUpdate and the contrary of AllowUnconditionalUpdate.
	createOnUpdate, conditional bool
	// loose is LooseFinalizers, meta is UpdateMeta.
	loose bool
	meta  MetaCheck
	// orphans makes Orphan the default propagation.
	orphans bool
	// fill fills in what the type says about absent fields.
	fill func(o tree)
	// prepare is done to a new object, and to one that is updated, after the generation is known.
	prepare func(o *api.Unstructured)
	// status is that of a new object; nil is an empty one.
	status func() tree
	// selectable are fields by which clients may select.
	selectable [][]string
	scale      *scalePaths
	cells      map[string]cell
	// parts is Parts.
	parts map[string]func(o, old *api.Unstructured)
}

// counting is how a type counts its changes.
type counting int

const (
	_ counting = iota
	// counted is from 1 on.
	counted
	// countedOnce is 1 for ever.
	countedOnce
	// countedLater begins with the first change.
	countedLater
)

var replicaPaths = &scalePaths{replicas: []string{"spec", "replicas"}, status: []string{"status", "replicas"}, selector: []string{"spec", "selector"}}

// plains are the types without code of their own, by their qualified names. Those that are not here are the plainest.
var plains = map[string]plain{
	"endpoints":              {createOnUpdate: true, fill: fillEndpoints, cells: endpointsCells},
	"componentstatuses":      {cells: componentCells},
	"persistentvolumes":      {fill: fillVolume, status: phase("Pending"), cells: volumeCells},
	"podtemplates":           {generation: counted, fill: fillTemplate, cells: podTemplateCells},
	"replicationcontrollers": {generation: counted, orphans: true, fill: fillController, scale: replicaPaths, selectable: [][]string{{"status", "replicas"}}, cells: controllerCells},

	"controllerrevisions.apps": {cells: revisionCells},
	"daemonsets.apps":          {generation: counted, fill: fillDaemonSet, prepare: templateGeneration, cells: daemonSetCells},
	"statefulsets.apps":        {generation: counted, fill: fillStatefulSet, status: noReplicas, scale: replicaPaths, cells: statefulSetCells},

	"horizontalpodautoscalers.autoscaling": {fill: fillAutoscaler, cells: autoscalerCells},

	"cronjobs.batch": {generation: counted, fill: fillCronJob, cells: cronJobCells},
	"jobs.batch":     {generation: counted, orphans: true, fill: fillJob, prepare: selectOwnPods, selectable: [][]string{{"status", "successful"}}, cells: jobCells},

	"certificatesigningrequests.certificates.k8s.io": {
		selectable: [][]string{{"spec", "signerName"}}, cells: signingCells,
		parts: map[string]func(o, old *api.Unstructured){"approval": keepAllBut("status", "conditions")},
	},

	"ingressclasses.networking.k8s.io":  {generation: counted, fill: fillIngressClass, cells: ingressClassCells},
	"ingresses.networking.k8s.io":       {generation: counted, cells: ingressCells},
	"ipaddresses.networking.k8s.io":     {cells: addressCells},
	"networkpolicies.networking.k8s.io": {generation: counted, fill: fillNetworkPolicy, cells: networkPolicyCells},
	"servicecidrs.networking.k8s.io":    {cells: serviceRangeCells},

	"poddisruptionbudgets.policy": {generation: counted, conditional: true, cells: budgetCells},

	"csidrivers.storage.k8s.io":              {generation: countedLater, conditional: true, fill: fillDriver, cells: driverCells},
	"csinodes.storage.k8s.io":                {conditional: true, cells: map[string]cell{"Drivers": length("spec", "drivers")}},
	"csistoragecapacities.storage.k8s.io":    {conditional: true},
	"storageclasses.storage.k8s.io":          {fill: fillStorageClass, cells: storageClassCells},
	"volumeattachments.storage.k8s.io":       {conditional: true, cells: attachmentCells},
	"volumeattributesclasses.storage.k8s.io": {cells: map[string]cell{"DriverName": field("driverName")}},

	"mutatingadmissionpolicies.admissionregistration.k8s.io":       {fill: fillMutation, generation: counted, conditional: true, loose: true, meta: CheckAll, cells: mutationCells},
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io": {generation: counted, conditional: true, loose: true, meta: CheckAll, cells: mutationCells},

	"priorityclasses.scheduling.k8s.io": {generation: countedOnce, fill: fillPriorityClass, cells: priorityClassCells},

	"runtimeclasses.node.k8s.io": {createOnUpdate: true, conditional: true, loose: true, cells: map[string]cell{"Handler": field("handler")}},

	"endpointslices.discovery.k8s.io": {generation: counted, fill: fillSlice, cells: sliceCells},

	"deviceclasses.resource.k8s.io":  {generation: counted},
	"resourceclaims.resource.k8s.io": {cells: map[string]cell{"State": deviceClaimState}},
	"resourceslices.resource.k8s.io": {generation: counted, selectable: [][]string{{"spec", "nodeName"}, {"spec", "driver"}}, cells: deviceSliceCells},

	"flowschemas.flowcontrol.apiserver.k8s.io":                 {generation: counted, cells: flowCells},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {generation: counted, fill: fillLevel, cells: levelCells},
}

// plainDefinition makes the definition of a type that has no code of its own.
func plainDefinition(r record) *Definition {
	d := &Definition{Group: r.Group, Version: r.Version, Plural: r.Plural, Kind: r.Kind}
	p := plains[d.Qualified()]
	d.Columns, d.scale = r.columns(p.cells), p.scale
	d.selectPaths(p.selectable, true)
	d.Strategy = Strategy{
		Parts: p.parts, UpdateMeta: p.meta, LooseFinalizers: p.loose,
		AllowCreateOnUpdate: p.createOnUpdate, AllowUnconditionalUpdate: !p.conditional,
	}
	if p.orphans {
		d.Strategy.DefaultPropagation = api.DeletePropagationOrphan
	}
	d.Strategy.Default = func(o *api.Unstructured) {
		if spec, _ := d.Type.Field("spec"); spec.Struct() {
			made(o.Object, "spec")
		}
		fillAlways(d.Type, o.Object)
		if p.fill != nil {
			p.fill(o.Object)
			fillAlways(d.Type, o.Object)
		}
	}
	d.Strategy.PrepareCreate = func(o *api.Unstructured) {
		if d.Status {
			status := tree{}
			if p.status != nil {
				status = p.status()
			}
			o.Object["status"] = status
			fillAlways(d.Type, o.Object)
		}
		if p.generation == counted || p.generation == countedOnce {
			firstGeneration(o)
		}
		if p.prepare != nil {
			p.prepare(o)
		}
	}
	d.Strategy.PrepareUpdate = func(o, old *api.Unstructured) {
		if d.Status {
			keepStatus(o, old)
		}
		counts := p.generation == counted || p.generation == countedLater
		nextGeneration(o, old, counts && contentChanged(o, old, true))
		if p.prepare != nil {
			p.prepare(o)
		}
	}
	d.Strategy.PrepareStatus = keepAllButStatus
	return d
}

// fillAlways writes the fields that are always there with their empty values where they are absent, in all objects of
// the tree.
func fillAlways(t *schema.Type, o tree) {
	for _, name := range t.Always() {
		if _, there := o[name]; there {
			continue
		}
		field, _ := t.Field(name)
		switch field.Kind() {
		case schema.Integer:
			o[name] = int64(0)
		case schema.Boolean:
			o[name] = false
		case schema.String:
			o[name] = ""
		case schema.Object:
			if o[name] = nil; field.Struct() {
				o[name] = tree{}
			}
		default:
			o[name] = nil
		}
	}
	for name, value := range o {
		field, known := t.Field(name)
		if !known {
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			fillAlways(field, v)
		case []any:
			for _, item := range v {
				if inner, ok := item.(map[string]any); ok {
					fillAlways(field.Items(), inner)
				}
			}
		}
	}
}

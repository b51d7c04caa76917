package resources

import (
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// deployments keep a number of equal pods running, and replace them step by step when they are to change.
func deployments() *Definition {
	return &Definition{
		Group:  "apps",
		Plural: "deployments",
		scale:  &scalePaths{replicas: []string{"spec", "replicas"}, status: []string{"status", "replicas"}, selector: []string{"spec", "selector"}},
		Columns: []Column{
			nameColumn(),
			{Name: "Ready", Type: "string", Description: "How many pods are ready, of how many that are wanted.", Cell: deploymentReady},
			{Name: "Up-to-date", Type: "string", Description: "How many pods were made from the present template.", Cell: number64("status", "updatedReplicas")},
			{Name: "Available", Type: "string", Description: "How many pods have been ready for long enough.", Cell: number64("status", "availableReplicas")},
			ageColumn(),
			{Name: "Containers", Type: "string", Priority: 1, Description: "The containers of the template.", Cell: joined(templateContainers, "name")},
			{Name: "Images", Type: "string", Priority: 1, Description: "The images of the template.", Cell: joined(templateContainers, "image")},
			{Name: "Selector", Type: "string", Priority: 1, Description: "The labels by which the pods are found.", Cell: labelSelectorCell("spec", "selector")},
		},
		Strategy: Strategy{
			Default:                  defaultDeployment,
			PrepareCreate:            func(o *api.Unstructured) { resetStatus(o); firstGeneration(o) },
			PrepareUpdate:            prepareDeploymentUpdate,
			PrepareStatus:            statusKeepsMetadata("labels"),
			Validate:                 validateDeployment,
			ValidateUpdate:           validateDeploymentUpdate,
			DefaultPropagation:       api.DeletePropagationBackground,
			AllowUnconditionalUpdate: true,
		},
	}
}

func deploymentReady(o *api.Unstructured, _ time.Time) any {
	return ratio(o.NestedInt64("status", "readyReplicas"), o.NestedInt64("spec", "replicas"))
}

func defaultDeployment(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	templateDefaults(spec)
	conditionTimes(child(o.Object, "status"), "lastTransitionTime", "lastUpdateTime")
	fill(spec, "replicas", int64(1))
	fill(spec, "revisionHistoryLimit", int64(10))
	fill(spec, "progressDeadlineSeconds", int64(600))
	strategy := made(spec, "strategy")
	fillText(strategy, "type", "RollingUpdate")
	if strategy["type"] == "RollingUpdate" {
		rolling := made(strategy, "rollingUpdate")
		fill(rolling, "maxUnavailable", "25%")
		fill(rolling, "maxSurge", "25%")
	}
}

// prepareDeploymentUpdate counts changes of annotations as well: a rollout records its cause in one.
func prepareDeploymentUpdate(o, old *api.Unstructured) {
	keepStatus(o, old)
	annotated := !same(o.Nested("metadata", "annotations"), old.Nested("metadata", "annotations"))
	nextGeneration(o, old, annotated || specChanged(o, old))
}

func validateDeployment(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	spec := child(o.Object, "spec")
	m.notNegative(spec, "replicas", "spec.replicas")
	m.template(spec, m.podsOf(spec, "deployment"))
	m.rollout(child(spec, "strategy"))
	m.notNegative(spec, "minReadySeconds", "spec.minReadySeconds")
	m.notNegative(spec, "revisionHistoryLimit", "spec.revisionHistoryLimit")
	m.progressDeadline(spec)
	return m
}

func (m *mistakes) progressDeadline(spec tree) {
	const path = "spec.progressDeadlineSeconds"
	if !has(spec, "progressDeadlineSeconds") {
		return
	}
	m.notNegative(spec, "progressDeadlineSeconds", path)
	if n := whole(spec, "progressDeadlineSeconds"); n <= whole(spec, "minReadySeconds") {
		m.invalid(path, n, "must be greater than minReadySeconds")
	}
}

func (m *mistakes) rollout(strategy tree) {
	rolling := child(strategy, "rollingUpdate")
	switch kind := text(strategy, "type"); kind {
	case "RollingUpdate":
		surge, unavailable := m.share(rolling, "maxSurge"), m.share(rolling, "maxUnavailable")
		if surge == 0 && unavailable == 0 {
			m.invalid("spec.strategy.rollingUpdate.maxUnavailable", rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0")
		}
	case "Recreate":
		if rolling != nil {
			m.forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	default:
		m.unsupported("spec.strategy", struct {
			Type          string
			RollingUpdate *struct{}
		}{Type: kind}, "Recreate", "RollingUpdate")
	}
}

// share reads a number or a percentage.
func (m *mistakes) share(rolling tree, key string) int64 {
	path := "spec.strategy.rollingUpdate." + key
	switch v := rolling[key].(type) {
	case int64:
		if v < 0 {
			m.invalid(path, v, "must be greater than or equal to 0")
		}
		return v
	case string:
		digits, percent := strings.CutSuffix(v, "%")
		n, err := strconv.ParseInt(digits, 10, 32)
		if !percent || err != nil || n < 0 {
			m.invalid(path, v, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')")
		}
		return n
	}
	return 0
}

func validateDeploymentUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := mistakes(validateDeployment(o))
	m.immutable("spec.selector", o.Nested("spec", "selector"), old.Nested("spec", "selector"))
	return m
}

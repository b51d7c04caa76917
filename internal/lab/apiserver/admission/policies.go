package admission

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/selector"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// askPolicies evaluates the policies that bindings put into force. The refusal comes from the first
// policy, in the order of names.
func (c *Controller) askPolicies(q *request) error {
	policies := c.stored("validatingadmissionpolicies")
	if len(policies) == 0 {
		return nil
	}
	var bindings []*api.Unstructured
	for _, stored := range c.stored("validatingadmissionpolicybindings") {
		bindings = append(bindings, stored.Decode())
	}
	for _, stored := range policies {
		bound := slices.DeleteFunc(slices.Clone(bindings), func(b *api.Unstructured) bool {
			return b.NestedString("spec", "policyName") != stored.Key.Name
		})
		if len(bound) == 0 {
			continue
		}
		if err := c.askPolicy(q, stored.Key.Name, stored.Decode(), bound); err != nil {
			return err
		}
	}
	return nil
}

// denial is why a policy denies a request.
type denial struct {
	message string
	reason  api.StatusReason // "" means Invalid
}

func (c *Controller) askPolicy(q *request, name string, policy *api.Unstructured, bindings []*api.Unstructured) error {
	spec, _ := policy.Nested("spec").(map[string]any)
	fails := spec["failurePolicy"] != "Ignore"
	constraint, _ := spec["matchConstraints"].(map[string]any)
	version, matches, err := constraintsOf(constraint, "resourceRules", "excludeResourceRules").match(q)
	if err != nil || !matches {
		return err
	}
	kind, err := c.paramKind(spec)
	if err != nil {
		if !fails {
			return nil
		}
		return q.refuse(fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: failed to configure policy: %v", name, err), "")
	}
	for _, binding := range bindings {
		bound, _ := binding.Nested("spec").(map[string]any)
		narrower, _ := bound["matchResources"].(map[string]any)
		_, matches, err := constraintsOf(narrower, "resourceRules", "excludeResourceRules").match(q)
		if err == nil && !matches {
			continue
		}
		var params []map[string]any
		if err == nil {
			params, err = c.params(q, kind, bound)
		}
		var denials []denial
		if err != nil && fails {
			denials = append(denials, denial{message: "failed to configure binding: " + err.Error()})
		}
		if err == nil {
			object, old := q.documents(version)
			for _, param := range params {
				denials = append(denials, c.judge(spec, q.variables(object, old, param), fails)...)
			}
		}
		actions := texts(bound["validationActions"])
		for _, d := range denials {
			if slices.Contains(actions, "Warn") && q.Write.Warn != nil {
				q.Write.Warn([]string{fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", name, binding.GetName(), d.message)})
			}
			if err != nil || slices.Contains(actions, "Deny") {
				return q.refuse(fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", name, binding.GetName(), d.message), d.reason)
			}
		}
	}
	return nil
}

// refuse returns the refusal of a policy.
func (q *request) refuse(text string, reason api.StatusReason) error {
	refused := faults.PolicyDenied(q.fault(), text)
	if reason != "" {
		refused.Status.Reason = reason
	}
	switch reason {
	case api.ReasonUnauthorized:
		refused.Status.Code = http.StatusUnauthorized
	case api.ReasonForbidden:
		refused.Status.Code = http.StatusForbidden
	case api.ReasonRequestEntityTooLarge:
		refused.Status.Code = http.StatusRequestEntityTooLarge
	}
	return refused
}

// judge evaluates a policy with one parameter.
func (c *Controller) judge(spec, variables map[string]any, fails bool) []denial {
	failed := func(err error) []denial {
		if fails {
			return []denial{{message: err.Error()}}
		}
		return nil
	}
	holds, err := c.conditionsHold(items(spec["matchConditions"]), variables)
	if err != nil {
		return failed(err)
	}
	if !holds {
		return nil
	}
	broken := c.define(items(spec["variables"]), variables)
	var denials []denial
	for _, validation := range items(spec["validations"]) {
		expression, _ := validation["expression"].(string)
		expression = strings.TrimSpace(expression)
		value, err := c.evaluate(expression, variables)
		if name, used := uses(expression, broken); used && err != nil {
			err = fmt.Errorf("expression '%v' resulted in error: composited variable %q fails to evaluate: %w", expression, name, broken[name])
		}
		switch {
		case err != nil:
			denials = append(denials, failed(err)...)
		case value != true:
			reason, _ := validation["reason"].(string)
			denials = append(denials, denial{c.message(validation, expression, variables), api.StatusReason(reason)})
		}
	}
	return denials
}

// define evaluates the variables of a policy, in their order, and returns the errors of those that
// have no value.
func (c *Controller) define(definitions []map[string]any, variables map[string]any) map[string]error {
	values, broken := map[string]any{}, map[string]error{}
	variables["variables"] = values
	for _, definition := range definitions {
		name, _ := definition["name"].(string)
		expression, _ := definition["expression"].(string)
		value, err := c.evaluate(strings.TrimSpace(expression), variables)
		if err != nil {
			broken[name] = err
			continue
		}
		values[name] = value
	}
	return broken
}

// used matches the variables in an expression.
var used = regexp.MustCompile(`\bvariables\.(\w+)`)

// uses returns a broken variable that an expression uses.
func uses(expression string, broken map[string]error) (string, bool) {
	for _, found := range used.FindAllStringSubmatch(expression, -1) {
		if broken[found[1]] != nil {
			return found[1], true
		}
	}
	return "", false
}

// message returns why a validation fails: its messageExpression, its message, or the expression.
func (c *Controller) message(validation map[string]any, expression string, variables map[string]any) string {
	if text, _ := validation["messageExpression"].(string); text != "" {
		value, err := c.evaluate(strings.TrimSpace(text), variables)
		said, _ := value.(string)
		if said = strings.TrimSpace(said); err == nil && said != "" && !strings.Contains(said, "\n") {
			return said
		}
	}
	if text, _ := validation["message"].(string); text != "" {
		return strings.TrimSpace(text)
	}
	return "failed expression: " + expression
}

// paramKind returns the type of the parameters of a policy, or nil if it has none.
func (c *Controller) paramKind(spec map[string]any) (*resources.Definition, error) {
	kind, ok := spec["paramKind"].(map[string]any)
	if !ok {
		return nil, nil
	}
	apiVersion, _ := kind["apiVersion"].(string)
	name, _ := kind["kind"].(string)
	gv, _ := api.ParseGroupVersion(apiVersion)
	d, ok := c.Catalog.ByKind(api.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: name})
	if !ok {
		return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%s, Kind=%s'", apiVersion, name)
	}
	return d, nil
}

var errNoParams = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")

// params returns the parameters of a binding. A policy or binding without any has one, nil.
func (c *Controller) params(q *request, kind *resources.Definition, binding map[string]any) ([]map[string]any, error) {
	ref, ok := binding["paramRef"].(map[string]any)
	if kind == nil || !ok {
		return []map[string]any{nil}, nil
	}
	namespace, _ := ref["namespace"].(string)
	switch {
	case namespace != "" && !kind.Namespaced:
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case namespace == "" && kind.Namespaced:
		if namespace = q.Namespace; namespace == "" {
			return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
		}
	}
	found, err := c.find(kind, namespace, ref)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && ref["parameterNotFoundAction"] == "Deny" {
		return nil, errNoParams
	}
	return found, nil
}

// find returns the objects that a reference names or selects.
func (c *Controller) find(kind *resources.Definition, namespace string, ref map[string]any) ([]map[string]any, error) {
	var found []map[string]any
	add := func(o *store.Object) {
		document := o.Decode().Object
		document["kind"], document["apiVersion"] = kind.Kind, api.GroupVersion{Group: kind.Group, Version: kind.Version}.String()
		found = append(found, document)
	}
	objects := c.Store.Collection(kind.Prefix)
	if name, _ := ref["name"].(string); name != "" {
		if o, ok := objects.Get(store.Key{Namespace: namespace, Name: name}); ok {
			add(o)
		}
		return found, nil
	}
	wanted, _ := ref["selector"].(map[string]any)
	labels, err := selector.ParseLabelSelector(wanted)
	if err != nil {
		return nil, err
	}
	view, err := objects.View(0)
	if err != nil {
		return nil, err
	}
	view.Ascend(namespace, store.Key{}, func(o *store.Object) bool {
		if labels.Matches(o.Labels) {
			add(o)
		}
		return true
	})
	return found, nil
}

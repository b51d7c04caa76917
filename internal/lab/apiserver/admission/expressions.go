package admission

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"orrery/internal/lab/apiserver/structural"
)

// environment is the language of policies and match conditions: the rules of custom resources with
// other variables. Expressions are not type-checked against the types of objects.
var environment = sync.OnceValue(func() *cel.Env {
	var variables []cel.EnvOption
	for _, name := range []string{"object", "oldObject", "request", "params", "namespaceObject", "variables"} {
		variables = append(variables, cel.Variable(name, cel.DynType))
	}
	return structural.Environment(variables...)
})

// costLimit bounds the evaluation of one expression, as in kube-apiserver.
const costLimit = 10_000_000

// maxPrograms is how many compiled expressions are kept.
const maxPrograms = 1000

// programs holds compiled expressions. The zero value is ready for use.
type programs struct {
	mu       sync.Mutex
	compiled map[string]compiled // guarded by mu
}

type compiled struct {
	program cel.Program
	err     error
}

func (p *programs) compile(expression string) (cel.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.compiled[expression]; ok {
		return known.program, known.err
	}
	if p.compiled == nil || len(p.compiled) >= maxPrograms {
		p.compiled = map[string]compiled{}
	}
	var made compiled
	ast, issues := environment().Compile(expression)
	if made.err = issues.Err(); made.err != nil {
		made.err = fmt.Errorf("compilation error: compilation failed: %w", made.err)
	} else {
		made.program, made.err = environment().Program(ast, cel.CostLimit(costLimit), cel.EvalOptions(cel.OptOptimize))
	}
	p.compiled[expression] = made
	return made.program, made.err
}

// evaluate returns the value of an expression.
func (c *Controller) evaluate(expression string, variables map[string]any) (any, error) {
	program, err := c.programs.compile(expression)
	if err != nil {
		return nil, err
	}
	value, _, err := program.Eval(variables)
	if err != nil {
		return nil, fmt.Errorf("expression '%v' resulted in error: %w", expression, err)
	}
	if value == types.NullValue {
		return nil, nil
	}
	return value.Value(), nil
}

// variables returns the variables of expressions.
func (q *request) variables(object, old, params map[string]any) map[string]any {
	asked := q.review(nil, q.Version, nil, nil).Request
	delete(asked, "object")
	delete(asked, "oldObject")
	var namespace any
	if found := q.itsNamespace(); found != nil && !q.isNamespace() {
		namespace = found.Object
	}
	return map[string]any{
		"object": orNull(object), "oldObject": orNull(old), "params": orNull(params), "request": asked,
		"namespaceObject": namespace, "variables": map[string]any{},
	}
}

// orNull returns null for a nil tree.
func orNull(tree map[string]any) any {
	if tree == nil {
		return nil
	}
	return tree
}

// conditionsHold reports whether all match conditions are true. One that is false counts more than
// another's error.
func (c *Controller) conditionsHold(conditions []map[string]any, variables map[string]any) (bool, error) {
	var failed []error
	for _, condition := range conditions {
		expression, _ := condition["expression"].(string)
		value, err := c.evaluate(strings.TrimSpace(expression), variables)
		switch {
		case err != nil:
			failed = append(failed, err)
		case value == false:
			return false, nil
		}
	}
	return len(failed) == 0, errors.Join(failed...)
}

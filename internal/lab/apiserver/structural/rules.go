package structural

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// program is a compiled rule.
type program struct {
	Rule
	holds   cel.Program
	message cel.Program // nil without a messageExpression
	usesOld bool
}

// costLimit bounds one evaluation of a rule, as in kube-apiserver.
const costLimit = 1_000_000

var errNoBool = errors.New("cel expression must evaluate to a bool")

// compileExpression compiles an expression over self and oldSelf.
func compileExpression(expression string, optionalOld bool, want *cel.Type) (cel.Program, error) {
	env := environment()
	if optionalOld {
		env = environmentWithOptionalOld()
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %w", issues.Err())
	}
	if kind := ast.OutputType(); !kind.IsExactType(want) && kind.Kind() != types.DynKind {
		return nil, errNoBool
	}
	return env.Program(ast, cel.CostLimit(costLimit), cel.EvalOptions(cel.OptOptimize))
}

func (r Rule) compile() (*program, error) {
	optionalOld := r.OptionalOldSelf != nil && *r.OptionalOldSelf
	holds, err := compileExpression(r.Rule, optionalOld, cel.BoolType)
	if err != nil {
		return nil, err
	}
	p := &program{Rule: r, holds: holds, usesOld: regexp.MustCompile(`\boldSelf\b`).MatchString(r.Rule)}
	if r.MessageExpression != "" {
		p.message, err = compileExpression(r.MessageExpression, optionalOld, cel.StringType)
	}
	return p, err
}

// compile compiles the rules of a schema and of all schemas inside it.
func (s *Schema) compile() {
	s.has(func(one *Schema) bool {
		for _, rule := range one.Rules {
			if p, err := rule.compile(); err == nil {
				one.rules = append(one.rules, p)
			}
		}
		return false
	})
}

// HasRules reports whether there are rules to evaluate.
func (s *Schema) HasRules() bool { return s.has(func(one *Schema) bool { return len(one.rules) > 0 }) }

// reasons are the reasons that a rule may state.
var reasons = []string{string(apierrors.FieldDuplicate), string(apierrors.FieldForbidden), string(apierrors.FieldInvalid), string(apierrors.FieldRequired)}

// rules checks that the rules compile.
func (c *check) rules(s *Schema, path string) {
	if s == nil {
		return
	}
	for i, rule := range s.Rules {
		at := indexed(path+".x-kubernetes-validations", i)
		switch {
		case strings.TrimSpace(rule.Rule) == "":
			c.required(at+".rule", "rule is not specified")
			continue
		case rule.Reason != nil && !slices.Contains(reasons, *rule.Reason):
			c.unsupported(at+".reason", *rule.Reason, reasons...)
		}
		if _, err := compileExpression(rule.Rule, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf, cel.BoolType); err != nil {
			c.invalid(at+".rule", rule, err.Error())
		} else if _, err := rule.compile(); err != nil {
			c.invalid(at+".messageExpression", rule, err.Error())
		}
	}
	c.rules(s.AdditionalProperties, path+".additionalProperties")
	for _, name := range sortedKeys(s.Properties) {
		c.rules(s.Properties[name], keyed(path+".properties", name))
	}
	c.rules(s.Items, path+".items")
}

// Evaluate returns the rules that a value breaks. Transition rules, which mention oldSelf, are
// skipped without an old value. Other rules are not reported for an unchanged value.
func (s *Schema) Evaluate(path string, value, old any) []apierrors.FieldError {
	if s == nil || value == nil {
		return nil
	}
	var wrong []apierrors.FieldError
	if len(s.rules) > 0 {
		wrong = s.evaluate(path, value, old)
	}
	for _, one := range s.AllOf {
		wrong = append(wrong, one.Evaluate(path, value, old)...)
	}
	switch v := value.(type) {
	case map[string]any:
		before, _ := old.(map[string]any)
		for _, name := range sortedKeys(v) {
			if _, named := s.Properties[name]; named {
				wrong = append(wrong, s.Properties[name].Evaluate(join(path, name), v[name], before[name])...)
			} else {
				wrong = append(wrong, s.AdditionalProperties.Evaluate(keyed(path, name), v[name], before[name])...)
			}
		}
	case []any:
		previous := s.correlated(old)
		for i, item := range v {
			wrong = append(wrong, s.Items.Evaluate(indexed(path, i), item, previous(item))...)
		}
	}
	return wrong
}

// evaluate evaluates the rules of one schema.
func (s *Schema) evaluate(path string, value, old any) (wrong []apierrors.FieldError) {
	unchanged := old != nil && reflect.DeepEqual(value, old)
	variables := map[string]any{"self": s.cel(value)}
	if old != nil {
		variables["oldSelf"] = s.cel(old)
	}
	if path == "" {
		path = "<nil>"
	}
	for _, rule := range s.rules {
		optional := rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
		if rule.usesOld && old == nil && !optional {
			continue
		}
		given := variables
		if optional {
			given = map[string]any{"self": variables["self"], "oldSelf": types.OptionalNone}
			if old != nil {
				given["oldSelf"] = types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(variables["oldSelf"]))
			}
		}
		result, _, err := rule.holds.Eval(given)
		switch {
		case err != nil:
			wrong = append(wrong, apierrors.FieldError{Type: apierrors.FieldInvalid, Field: path, Value: s.Type, Detail: rule.failure(err)})
		case result != types.True && (rule.usesOld || !unchanged):
			wrong = append(wrong, rule.broken(path, value, given))
		}
	}
	return wrong
}

// name identifies a rule in error messages.
func (p *program) name() string {
	if p.Message != "" {
		return strings.TrimSpace(p.Message)
	}
	return strings.TrimSpace(p.Rule.Rule)
}

func (p *program) failure(err error) string {
	if strings.HasPrefix(err.Error(), "no such overload") {
		return fmt.Sprintf("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, p.name())
	}
	return fmt.Sprintf("%v evaluating rule: %v", err, p.name())
}

// broken returns the error for a value that breaks the rule.
func (p *program) broken(path string, value any, variables map[string]any) apierrors.FieldError {
	detail := "failed rule: " + strings.TrimSpace(p.Rule.Rule)
	if p.Message != "" {
		detail = strings.TrimSpace(p.Message)
	}
	if p.message != nil {
		if result, _, err := p.message.Eval(variables); err == nil {
			if said, ok := result.Value().(string); ok && strings.TrimSpace(said) != "" && !strings.ContainsAny(said, "\r\n") {
				detail = strings.TrimSpace(said)
			}
		}
	}
	kind := apierrors.FieldInvalid
	if p.Reason != nil {
		kind = api.CauseType(*p.Reason)
	}
	if kind == apierrors.FieldDuplicate {
		detail = ""
	}
	if p.FieldPath != "" {
		path = join(strings.TrimPrefix(path, "<nil>"), strings.TrimPrefix(p.FieldPath, "."))
	}
	switch value.(type) {
	case map[string]any, []any:
		value = apierrors.Omitted
	}
	return apierrors.FieldError{Type: kind, Field: path, Value: value, Detail: detail}
}

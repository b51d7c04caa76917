package structural

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// The language of rules is CEL with kube-apiserver's extensions, except arithmetic of quantities
// and named formats. Expressions are not type-checked against the schema: a rule about an unknown
// field fails when it is evaluated, not when it is compiled.
var (
	environment                = sync.OnceValue(func() *cel.Env { return newEnvironment(cel.DynType) })
	environmentWithOptionalOld = sync.OnceValue(func() *cel.Env { return newEnvironment(cel.OptionalType(cel.DynType)) })
)

func newEnvironment(oldSelf *cel.Type) *cel.Env {
	return Environment(cel.Variable("self", cel.DynType), cel.Variable("oldSelf", oldSelf))
}

// Environment returns the language of rules with other variables, for admission policies. It panics
// if they are invalid.
func Environment(variables ...cel.EnvOption) *cel.Env {
	env, err := cel.NewEnv(append(variables,
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(),
		lists(), patterns(), urls(), addresses(), amounts(),
	)...)
	if err != nil {
		panic("structural: " + err.Error())
	}
	return env
}

type library []cel.EnvOption

func (l library) CompileOptions() []cel.EnvOption     { return l }
func (l library) ProgramOptions() []cel.ProgramOption { return nil }

func method(name string, arguments []*cel.Type, result *cel.Type, call func(arguments ...ref.Val) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("orrery_"+name+"_"+arguments[0].String(), arguments, result, cel.FunctionBinding(call)))
}

var listOfAny = cel.ListType(cel.DynType)

// lists returns the list library.
func lists() cel.EnvOption {
	one, two := []*cel.Type{listOfAny}, []*cel.Type{listOfAny, cel.DynType}
	return cel.Lib(library{
		method("isSorted", one, cel.BoolType, func(a ...ref.Val) ref.Val {
			return types.Bool(fold(a[0], types.True, func(last, next ref.Val) ref.Val {
				if last == types.True || compared(last, next) <= 0 {
					return next
				}
				return types.False
			}) != types.False)
		}),
		method("sum", one, cel.DynType, func(a ...ref.Val) ref.Val {
			return fold(a[0], types.Int(0), func(sum, next ref.Val) ref.Val {
				if sum == types.Int(0) {
					return next
				}
				return sum.(traits.Adder).Add(next)
			})
		}),
		method("min", one, cel.DynType, extreme("min", -1)), method("max", one, cel.DynType, extreme("max", 1)),
		method("indexOf", two, cel.IntType, func(a ...ref.Val) ref.Val { return position(a[0], a[1], false) }),
		method("lastIndexOf", two, cel.IntType, func(a ...ref.Val) ref.Val { return position(a[0], a[1], true) }),
	})
}

// fold folds a list. A step that returns false or an error ends it.
func fold(list, start ref.Val, step func(sofar, next ref.Val) ref.Val) ref.Val {
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		if start = step(start, it.Next()); start == types.False || types.IsError(start) {
			return start
		}
	}
	return start
}

func compared(a, b ref.Val) types.Int {
	comparer, ok := a.(traits.Comparer)
	if !ok {
		return 0
	}
	order, _ := comparer.Compare(b).(types.Int)
	return order
}

func extreme(name string, sign types.Int) func(...ref.Val) ref.Val {
	return func(a ...ref.Val) ref.Val {
		return fold(a[0], types.NewErr("%s called on empty list", name), func(best, next ref.Val) ref.Val {
			if types.IsError(best) || compared(next, best) == sign {
				return next
			}
			return best
		})
	}
}

func position(list, wanted ref.Val, last bool) ref.Val {
	found, i := types.Int(-1), types.Int(0)
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; i++ {
		if it.Next().Equal(wanted) == types.True && (last || found < 0) {
			found = i
		}
	}
	return found
}

// patterns returns the functions find and findAll.
func patterns() cel.EnvOption {
	arguments := []*cel.Type{cel.StringType, cel.StringType}
	found := func(a []ref.Val, count int) ([]string, ref.Val) {
		expression, err := regexp.Compile(string(a[1].(types.String)))
		if err != nil {
			return nil, types.NewErr("Illegal regex: %v", err.Error())
		}
		return expression.FindAllString(string(a[0].(types.String)), count), nil
	}
	return cel.Lib(library{
		method("find", arguments, cel.StringType, func(a ...ref.Val) ref.Val {
			texts, err := found(a, 1)
			if err != nil {
				return err
			}
			return types.String(strings.Join(texts, ""))
		}),
		method("findAll", arguments, cel.ListType(cel.StringType), func(a ...ref.Val) ref.Val {
			texts, err := found(a, -1)
			if err != nil {
				return err
			}
			return types.DefaultTypeAdapter.NativeToValue(texts)
		}),
	})
}

// cel converts a value to what rules see: escaped names, times and bytes.
func (s *Schema) cel(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			field := s.at(name)
			if s != nil && s.Properties != nil {
				name = escape(name)
			}
			out[name] = field.cel(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if s != nil {
				out[i] = s.Items.cel(item)
			} else {
				out[i] = item
			}
		}
		return out
	case string:
		return s.celText(v)
	}
	return value
}

func (s *Schema) celText(text string) any {
	if s == nil {
		return text
	}
	switch s.Format {
	case "date":
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return t
		}
	case "date-time", "datetime":
		if t, ok := parseDateTime(text); ok {
			return t
		}
	case "duration":
		if d, ok := parseDuration(text); ok {
			return d
		}
	case "byte":
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			return data
		}
	}
	return text
}

// reserved are the CEL keywords that cannot be identifiers.
var reserved = map[string]bool{
	"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true, "else": true, "for": true,
	"function": true, "if": true, "import": true, "let": true, "loop": true, "package": true, "namespace": true, "return": true,
	"var": true, "void": true, "while": true,
}

var escapes = strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__")

// escape returns the name of a field in rules.
func escape(name string) string {
	if reserved[name] {
		return "__" + name + "__"
	}
	return escapes.Replace(name)
}

package predict

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

// predicates are the questions that a caller may ask about an error.
var predicates = map[string]func(error) bool{
	"IsConflict":        api.IsConflict,
	"IsExpired":         api.IsExpired,
	"IsNotFound":        api.IsNotFound,
	"IsTooManyRequests": api.IsTooManyRequests,
}

// newErrors is the interpreter for restclient/api/statuserror.go: refusals by name.
func newErrors(context.Context) commands {
	refusals := map[string]*api.Status{}
	refusal := func(name string) *api.Status {
		if refusals[name] == nil {
			refusals[name] = &api.Status{Details: &api.StatusDetails{}}
		}
		return refusals[name]
	}
	// Callers wrap errors, so each question is about a wrapped one.
	wrapped := func(name string) error {
		return fmt.Errorf("the request failed: %w", api.NewStatusError(*refusal(name)))
	}
	return commands{
		"refusal NAME CODE REASON...": func(args ...string) (_ string, err error) {
			status := refusal(args[0])
			status.Reason = api.StatusReason(strings.Join(args[2:], ""))
			status.Code, err = strconv.Atoi(args[1])
			return "", err
		},
		"message NAME WORDS...": func(args ...string) (string, error) {
			refusal(args[0]).Message = strings.Join(args[1:], " ")
			return "", nil
		},
		"retry-after NAME SECONDS": func(args ...string) (_ string, err error) {
			refusal(args[0]).Details.RetryAfterSeconds, err = strconv.Atoi(args[1])
			return "", err
		},
		"which PREDICATE": func(args ...string) (string, error) {
			holds := predicates[args[0]]
			if holds == nil {
				return "", fmt.Errorf("known are %s", strings.Join(slices.Sorted(maps.Keys(predicates)), ", "))
			}
			var names []string
			for _, name := range slices.Sorted(maps.Keys(refusals)) {
				if holds(wrapped(name)) {
					names = append(names, name)
				}
			}
			return list(names, " "), nil
		},
		"reason NAME": func(args ...string) (string, error) {
			return cmp.Or(string(api.ReasonOf(wrapped(args[0]))), "nothing"), nil
		},
		"delay NAME": func(args ...string) (string, error) { return api.RetryAfterOf(wrapped(args[0])).String(), nil },
	}
}

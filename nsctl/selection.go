package nsctl

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// Selection says which namespaces a controller works on. The zero value selects all.
type Selection struct{ include, exclude []string }

// pattern is the form of a pattern without its "-". A pattern that no name can match is a mistake.
var pattern = regexp.MustCompile(`^[a-z0-9*?]([a-z0-9*?-]*[a-z0-9*?])?$`)

// ParseSelection reads patterns such as "team-*", and "-team-x" to exclude. "*" stands for any
// characters, "?" for one. A namespace is selected if a pattern includes its name and none excludes
// it; without patterns that include, every name is included.
func ParseSelection(patterns []string) (Selection, error) {
	var s Selection
	for _, given := range patterns {
		bare, excludes := strings.CutPrefix(given, "-")
		switch {
		case !pattern.MatchString(bare):
			return Selection{},
				fmt.Errorf(`%q matches no namespace: a pattern has lower-case letters, digits, "-", "*" and "?"; "-" in front of it excludes`, given)
		case excludes:
			s.exclude = append(s.exclude, bare)
		default:
			s.include = append(s.include, bare)
		}
	}
	return s, nil
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return matched && err == nil
}

// Selects reports whether the controller works on a namespace of that name.
func (s Selection) Selects(name string) bool {
	matching := func(pattern string) bool { return matches(pattern, name) }
	return (len(s.include) == 0 || slices.ContainsFunc(s.include, matching)) &&
		!slices.ContainsFunc(s.exclude, matching)
}

// All reports whether every namespace is selected.
func (s Selection) All() bool { return len(s.include) == 0 && len(s.exclude) == 0 }

// String returns the patterns, with commas between them; "*" for all.
func (s Selection) String() string {
	if s.All() {
		return "*"
	}
	patterns := slices.Clone(s.include)
	for _, excluded := range s.exclude {
		patterns = append(patterns, "-"+excluded)
	}
	return strings.Join(patterns, ",")
}

// PassedOver returns how many namespaces are terminating and not selected. It may be called from
// any goroutine.
func (c *Controller) PassedOver() int {
	if c.selection.All() {
		return 0
	}
	return len(c.lister.ListFunc(func(namespace *api.Namespace) bool {
		return namespace.DeletionTimestamp != nil && !c.selection.Selects(namespace.Name)
	}))
}

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
// it; without patterns that include, every name is included. A pattern that another one undoes is
// an error.
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
	includes := s.include
	if len(includes) == 0 {
		includes = []string{"*"}
	}
	for _, excluded := range s.exclude {
		for _, included := range includes {
			const longest = 63 // characters of a name
			if matches(excluded, strings.ReplaceAll(included, "*", "")) &&
				matches(excluded, strings.ReplaceAll(included, "*", strings.Repeat("\x00", longest))) {
				return Selection{}, fmt.Errorf(`"-%s" excludes all that %q includes`, excluded, included)
			}
		}
	}
	return s, nil
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return matched && err == nil
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

// InDeletion returns the selected namespaces that are terminating, as the informer's store has
// them. They must not be changed. It may be called from any goroutine, by a standby too.
func (c *Controller) InDeletion() []*api.Namespace { return c.lister.ListFunc(c.concerns) }

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

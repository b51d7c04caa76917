package controllers

import (
	"fmt"
	"slices"
	"strings"
)

// Selection is a list in the manner of kube-controller-manager's --controllers: "*" selects all controllers,
// "name" selects one, "-name" leaves one out. What is named wins over "*". The zero value selects nothing.
type Selection struct {
	entries []string
}

// UnknownNameError says that a selection names a controller that does not exist.
type UnknownNameError struct {
	Name  string
	Known []string
}

func (e *UnknownNameError) Error() string {
	return fmt.Sprintf("there is no controller %q; use * or one of: %s (with - in front to leave it out)",
		e.Name, strings.Join(e.Known, ", "))
}

// ParseSelection checks the entries against the names that exist and their aliases (alias to name).
func ParseSelection(entries, known []string, aliases map[string]string) (Selection, error) {
	var selection Selection
	for _, entry := range entries {
		name := strings.TrimPrefix(entry, "-")
		if full, ok := aliases[name]; ok {
			entry = strings.TrimSuffix(entry, name) + full
			name = full
		}
		if entry != "*" && !slices.Contains(known, name) {
			return Selection{}, &UnknownNameError{Name: name, Known: known}
		}
		selection.entries = append(selection.entries, entry)
	}
	return selection, nil
}

// Selects tells whether the controller is selected.
func (s Selection) Selects(name string) bool {
	switch {
	case slices.Contains(s.entries, name):
		return true
	case slices.Contains(s.entries, "-"+name):
		return false
	default:
		return slices.Contains(s.entries, "*")
	}
}

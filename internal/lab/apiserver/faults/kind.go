package faults

import (
	"slices"
	"strings"
)

// Kind describes one kind of fault.
type Kind struct {
	// Name begins the line that orders the fault.
	Name string
	// Usage is an example of such a line, with the options that matter for this kind.
	Usage string
	// Summary says in one sentence what the server does.
	Summary string
	// Teaches says in a sentence or two what one learns from it.
	Teaches string
	// Options are the options that the kind takes, the most particular first.
	Options []Option
	// Action tells that the fault happens once, or every so often, instead of lasting.
	Action bool
}

// Option describes an option of a kind.
type Option struct {
	Name string
	// Meaning says what it does, with its unit and its default.
	Meaning string
}

func (k Kind) takes(option string) bool {
	return slices.ContainsFunc(k.Options, func(o Option) bool { return o.Name == option })
}

func (k Kind) optionNames() string {
	names := make([]string, len(k.Options))
	for i, option := range k.Options {
		names[i] = option.Name
	}
	return strings.Join(names, ", ")
}

func kindNamed(name string) (Kind, bool) {
	at := slices.IndexFunc(catalogue, func(k Kind) bool { return k.Name == name })
	if at < 0 {
		return Kind{}, false
	}
	return catalogue[at], true
}

func kindNames() string {
	names := make([]string, len(catalogue))
	for i, kind := range catalogue {
		names[i] = kind.Name
	}
	return strings.Join(names, ", ")
}

package why

import (
	"slices"
	"strings"
)

// This page says what a name shows about the program that has it.

// isCalled reports whether the workload's name, container, image or command has the letters of a
// program, or its name is a word of the program's: it may be the program, or another.
func (w Workload) isCalled(program string) bool {
	program, name := strings.ToLower(program), strings.ToLower(w.Name)
	has := func(name string) bool { return strings.Contains(strings.ToLower(name), program) }
	return len(name) >= 4 && !slices.Contains(common, name) && hasWord(program, name) ||
		slices.ContainsFunc(w.names(), has)
}

// isNamed reports whether a name, container, image or command of the workload is exactly that of a
// program.
func (w Workload) isNamed(program string) bool {
	return slices.Contains(w.names(), program)
}

// names returns the name of the workload and those of its containers, images and commands.
func (w Workload) names() []string { return append([]string{w.Name}, w.Words...) }

// dashes makes dashes of what separates words in a name.
var dashes = strings.NewReplacer(":", "-", " ", "-", "/", "-", "@", "-", ".", "-", "_", "-")

// hasWord reports whether a name, such as that of the user eks:cloud-controller-manager, has that
// of a program as a word.
func hasWord(name, program string) bool {
	dashed := func(name string) string { return dashes.Replace(strings.ToLower(name)) }
	return strings.Contains("-"+dashed(name)+"-", "-"+strings.Trim(dashed(program), "-")+"-")
}

// common are words that many programs have in their names: as a part they say nothing.
var common = []string{
	"manager", "controller", "controller-manager", "operator", "provider", "server", "main", "agent", "app", "client",
	"daemon", "service",
	"worker", "python", "python3", "node", "java", "ruby", "dotnet", "kopf",
}

// isOf reports whether a Lease or its holder has the name of one of the programs, as a word.
func (l Lease) isOf(programs []string) bool {
	return slices.ContainsFunc(programs,
		func(program string) bool { return hasWord(l.Name, program) || hasWord(l.Holder, program) })
}

package why

import (
	_ "embed" // finalizers.yaml
	"path"
	"slices"
	"strings"
	"sync"
)

// Keeper describes the known owner of a finalizer: a row of finalizers.yaml, which describes its
// fields.
type Keeper struct {
	Pattern    string   `yaml:"finalizer"`
	Types      []string `yaml:"types"`
	Name       string   `yaml:"owner"`
	Programs   []string `yaml:"programs"`
	Protects   string   `yaml:"protects"`
	Controller string   `yaml:"controller"`
	Outside    bool     `yaml:"outside"`
	Product    string   `yaml:"product"`
	Many       bool     `yaml:"many"`
	Balancer   bool     `yaml:"balancer"`
}

//go:embed finalizers.yaml
var finalizersFile []byte

// Keepers returns the known owners. A test reads each row.
var Keepers = sync.OnceValue(func() (all []Keeper) {
	decodeOwn(finalizersFile, &all)
	for i := range all {
		if all[i].Programs == nil {
			all[i].Programs = []string{all[i].Name}
		}
	}
	return all
})

// Known reports whether there is a row for the finalizer.
func (k Keeper) Known() bool { return k.Pattern != "" }

const balancerCleanup = "service.kubernetes.io/load-balancer-cleanup"

// Keeper returns the owner of a finalizer, if one is known that handles the type.
func (h Held) Keeper() (keeper Keeper) {
	fits := func(k Keeper) bool {
		return matches(k.Pattern, h.Finalizer) &&
			(k.Types == nil || slices.ContainsFunc(k.Types, func(t string) bool { return matches(t, h.Type.Name()) }))
	}
	if found := find(Keepers(), fits); found != nil {
		keeper = *found
	}
	return keeper
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// isCalled reports whether the workload's name, container, image or command has the letters of a
// program, or its name is a word of the program's: it may be the program, or another.
func (w Workload) isCalled(program string) bool {
	program, name := strings.ToLower(program), strings.ToLower(w.Name)
	if len(program) < 4 { // its letters are in too many names
		return slices.ContainsFunc(w.names(), func(name string) bool { return hasWord(name, program) })
	}
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

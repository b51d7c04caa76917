package why

import (
	_ "embed" // finalizers.yaml
	"path"
	"slices"
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

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
	return all
})

const balancerCleanup = "service.kubernetes.io/load-balancer-cleanup"

// Keeper returns the known owner of a finalizer, if that is one which handles the type.
func (h Held) Keeper() (Keeper, bool) {
	fits := func(k Keeper) bool {
		return matches(k.Pattern, h.Finalizer) && (k.Types == nil || slices.ContainsFunc(k.Types, func(t string) bool { return matches(t, h.Type.Name()) }))
	}
	found := find(Keepers(), fits)
	if found == nil {
		return Keeper{}, false
	}
	keeper := *found
	if keeper.Programs == nil {
		keeper.Programs = []string{keeper.Name}
	}
	return keeper, true
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

package why

import (
	_ "embed" // finalizers.yaml
	"fmt"
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

// foreign says which program has the finalizer on objects of other types; "" for none.
func (h Held) foreign() string {
	k := find(Keepers(), func(k Keeper) bool { return matches(k.Pattern, h.Finalizer) })
	if k == nil {
		return ""
	}
	return fmt.Sprintf(": %s removes it from %s only", k.Name, listed(k.Types))
}

func matches(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// creators are managers that write objects for people or from templates, and own no finalizer.
var creators = []string{
	"kubectl", "helm", "argocd", "kustomize-controller", "helm-controller", "terraform", "pulumi", "fleet", "before-first-apply", "velero", "k9s",
	"oc", "flux", "rancher", "kapp", "kpt", "skaffold", "werf", "kube-controller-manager", "kube-apiserver",
}

// isCreator reports whether a manager writes objects on behalf of others.
func isCreator(manager string) bool {
	manager = strings.ToLower(manager)
	return slices.ContainsFunc(creators, func(creator string) bool {
		return manager == creator || len(creator) > 3 && strings.HasPrefix(manager, creator)
	})
}

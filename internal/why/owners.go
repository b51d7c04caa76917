package why

import (
	"bytes"
	_ "embed" // finalizers.yaml
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Keeper describes the known owner of a finalizer: a row of finalizers.yaml, which describes its
// fields.
type Keeper struct {
	Pattern    string   `json:"finalizer" yaml:"finalizer"`
	Types      []string `json:"types,omitempty" yaml:"types"`
	Name       string   `json:"owner" yaml:"owner"`
	Programs   []string `json:"programs,omitempty" yaml:"programs"`
	Protects   string   `json:"protects,omitempty" yaml:"protects"`
	Controller string   `json:"controller,omitempty" yaml:"controller"`
	Outside    bool     `json:"outside,omitempty" yaml:"outside"`
	Product    string   `json:"product,omitempty" yaml:"product"`
	Many       bool     `json:"many,omitempty" yaml:"many"`
	Balancer   bool     `json:"balancer,omitempty" yaml:"balancer"`
}

//go:embed finalizers.yaml
var finalizersFile []byte

// keepers returns the known owners.
var keepers = sync.OnceValue(func() []Keeper {
	all, err := readKeepers(finalizersFile)
	if err != nil {
		panic(err) // a test reads it
	}
	return all
})

// LoadKeepers reads a file of the form of finalizers.yaml. It fails if a row has an unknown field,
// no finalizer or no owner, or a pattern that is none.
func LoadKeepers(path string) ([]Keeper, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the finalizers cannot be read: %w", err)
	}
	all, err := readKeepers(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

func readKeepers(text []byte) (all []Keeper, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	for i, k := range all {
		if k.Pattern == "" || k.Name == "" {
			return nil, fmt.Errorf("row %d has no finalizer or no owner", i+1)
		}
		for _, pattern := range append([]string{k.Pattern}, k.Types...) {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("row %d: %q is no pattern", i+1, pattern)
			}
		}
	}
	return all, nil
}

const balancerCleanup = "service.kubernetes.io/load-balancer-cleanup"

// Keeper returns the known owner of a finalizer, if that is one which handles the type.
func (h Held) Keeper() (Keeper, bool) {
	fits := func(k Keeper) bool {
		return matches(k.Pattern, h.Finalizer) && (k.Types == nil || slices.ContainsFunc(k.Types, func(t string) bool { return matches(t, h.Type.Name()) }))
	}
	known := h.more
	at := slices.IndexFunc(known, fits)
	if at < 0 {
		known = keepers()
		at = slices.IndexFunc(known, fits)
	}
	if at < 0 {
		return Keeper{}, false
	}
	keeper := known[at]
	if keeper.Programs == nil {
		keeper.Programs = []string{keeper.Name}
	}
	return keeper, true
}

// foreign says which program has the finalizer on objects of other types; "" for none.
func (h Held) foreign() string {
	at := slices.IndexFunc(keepers(), func(k Keeper) bool { return matches(k.Pattern, h.Finalizer) })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(": %s removes it from %s only", keepers()[at].Name, listed(keepers()[at].Types))
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

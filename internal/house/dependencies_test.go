package house_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// directDependencies are the modules that go.mod requires, each with its purpose. The deployed
// program's dependencies run with the rights of a controller, so an additional one must be worth
// it. "lab:" marks a dependency of the laboratory alone, "tests:" one of tests alone.
var directDependencies = map[string]string{
	"github.com/cenkalti/backoff/v4":           "back-off with jitter in the reflector",
	"github.com/gorilla/websocket":             "watches over websocket",
	"github.com/rs/zerolog":                    "log lines",
	"github.com/santhosh-tekuri/jsonschema/v6": "lab: the schemas of custom resources in the API server in memory",
	"github.com/schollz/progressbar/v3":        "lab: the line that shows what a benchmark does",
	"github.com/spf13/cobra":                   "the command line, its help and its completion",
	"github.com/spf13/pflag":                   "flags; cobra's own",
	"github.com/HdrHistogram/hdrhistogram-go":  "lab: percentiles of benchmarks",
	"github.com/theory/jsonpath":               "lab: the columns of kubectl get",
	"github.com/tidwall/btree":                 "lab: the ordered store of the API server in memory",
	"github.com/pmezard/go-difflib":            "lab: the difference to the reference; testify brings it anyway",
	"go.yaml.in/yaml/v3":                       "kubeconfig files, and the manifests that orrery rbac prints",
	"golang.org/x/term":                        "the size of a terminal",
	"golang.org/x/time":                        "token buckets of client and queue (rate alone)",
	"gopkg.in/evanphx/json-patch.v4":           "lab: JSON patches and merge patches, as in kube-apiserver",
	"google.golang.org/protobuf": "metrics: client_model; lab: the wire format of requests " +
		"(protowire alone)",
	"github.com/prometheus/client_golang": "metrics",
	"github.com/prometheus/client_model":  "metrics: the values that client_golang gathers",

	"github.com/anishathalye/porcupine": "tests: is the queue linearizable?",
	"github.com/chromedp/cdproto":       "tests: the types of Chromium's events",
	"github.com/chromedp/chromedp":      "tests: the page of the view in Chromium",
	"github.com/cockroachdb/datadriven": "tests: scenario files",
	"github.com/stretchr/testify":       "tests: assertions",
	"go.uber.org/goleak":                "tests: is a goroutine left?",
	"pgregory.net/rapid":                "tests: properties",
}

// carriedAlong are the indirect dependencies of the program.
var carriedAlong = map[string]string{
	"github.com/beorn7/perks":       "client_golang: quantiles of summaries, which the program does not have",
	"github.com/cespare/xxhash/v2":  "client_golang: hashes of label values",
	"github.com/mattn/go-colorable": "zerolog: colours on Windows",
	"github.com/mattn/go-isatty":    "zerolog: is it a terminal?",
	"github.com/munnerz/goautoneg":  "prometheus/common: the format that a client accepts",
	"github.com/prometheus/common":  "client_golang: Prometheus' text format",
	"github.com/prometheus/procfs":  "client_golang: figures of the process",
	"go.yaml.in/yaml/v2":            "prometheus/common: label values in configuration files",
	"golang.org/x/sys":              "golang.org/x/term, go-isatty: system calls",
}

// modulesOf returns the modules of a package's dependencies, except this one.
func modulesOf(t *testing.T, pattern string) []string {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pattern)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0") // what is deployed
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	found := map[string]bool{}
	for name := range strings.FieldsSeq(string(output)) {
		found[name] = true
	}
	delete(found, module)
	return slices.Sorted(maps.Keys(found))
}

func TestDirectDependenciesAreThoseThatWereAgreedOn(t *testing.T) {
	command := exec.Command("go", "mod", "edit", "-json")
	command.Dir = root
	command.Stderr = os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(output, &file))
	var direct []string
	for _, required := range file.Require {
		if !required.Indirect {
			direct = append(direct, required.Path)
		}
	}
	compareDependencies(t, "go.mod", direct, directDependencies)
	assert.Empty(t, file.Replace, "no replace directives")
}

func TestTheProgramHasNoOtherModules(t *testing.T) {
	inside := modulesOf(t, "./cmd/orrery")
	agreed := maps.Clone(carriedAlong)
	for name, reason := range directDependencies {
		if !strings.HasPrefix(reason, "tests: ") && !strings.HasPrefix(reason, "lab: ") {
			agreed[name] = reason
		}
	}
	compareDependencies(t, "the program", inside, agreed)
}

// compareDependencies fails for each difference between the modules found and those agreed on.
func compareDependencies(t *testing.T, where string, there []string, agreed map[string]string) {
	const here = "internal/house/dependencies_test.go"
	for _, name := range there {
		assert.Contains(t, agreed, name, "%s has this module: remove it, or state its purpose in %s", where, here)
	}
	for name := range agreed {
		assert.Contains(t, there, name, "%s has no such module any more: delete it from %s", where, here)
	}
}

package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exception is a scenario that the server in memory cannot serve.
type exception struct {
	scenario string
	// uses is the function through which the scenario, directly or not, needs the genuine server.
	uses string
	// reason is what it needs.
	reason string
}

// genuineOnly lists the scenarios that run on the genuine server alone.
var genuineOnly = []exception{
	{
		scenario: "TestAPIServerIsRestarted", uses: "RestartAPIServer",
		reason: "A server that is started again and still has everything: the one in memory forgets with its end.",
	},
	{
		scenario: "TestHistoryIsForgottenWithoutWatchCache", uses: "DisableWatchCache",
		reason: "The watch cache is a part of kube-apiserver. The server in memory answers everything from one store.",
	},
	{
		scenario: "TestRequestsForEmptyNamespace", uses: "requestsFor",
		reason: "The number of requests is that of the genuine server's types; in memory there are fewer.",
	},
	{
		scenario: "TestMistakesAgainstRealServer", uses: "ExpiredKubeconfigFor",
		reason: "Certificates that have expired and users without rights: the server in memory has no RBAC.",
	},
}

// wholeMatrix runs every scenario on every platform with every subject, as "make nightly" does.
// Otherwise orrery runs on the genuine server alone and is compared with the original's recorded
// outcome.
var wholeMatrix = os.Getenv("E2E_MATRIX") == "whole"

// platformsFor returns the platforms on which a test runs in this run.
func platformsFor(test string) []Platform {
	if !wholeMatrix {
		return []Platform{Kubernetes()}
	}
	return allPlatformsFor(test)
}

// allPlatformsFor returns the platforms on which a test can run.
func allPlatformsFor(test string) []Platform {
	for _, e := range genuineOnly {
		if e.scenario == test {
			return []Platform{Kubernetes()}
		}
	}
	return Platforms()
}

// subjectsNow returns the subjects of this run.
func subjectsNow() []Subject {
	if !wholeMatrix {
		return []Subject{Orrery()}
	}
	return Subjects()
}

// Every scenario runs on all platforms or is listed as an exception, and every exception is needed.
func TestExceptionsAreNeeded(t *testing.T) {
	source := sourceOfTests(t)
	listed := map[string]bool{}
	for _, e := range genuineOnly {
		assert.NotEmpty(t, e.reason, e.scenario)
		if assert.Contains(t, source, e.scenario, "an exception for a test that does not exist") {
			assert.True(t, source.reaches(e.scenario, e.uses), "%s does not use %s: it may run on all platforms", e.scenario, e.uses)
		}
		assert.False(t, listed[e.scenario], "%s is listed twice", e.scenario)
		listed[e.scenario] = true
	}
	for name, function := range source {
		if !strings.HasPrefix(name, "Test") || !strings.HasPrefix(function.file, "scenario_") || listed[name] {
			continue
		}
		assert.True(t, function.uses["tryEach"] || function.uses["onEachVacant"],
			"%s runs neither on all platforms, by tryEach or onEachVacant, nor is it listed in genuineOnly", name)
	}
}

// source holds the functions of a package's tests by name, methods without their type.
type source map[string]sourceFunction

type sourceFunction struct {
	file string
	uses map[string]bool // every name in its body
}

// reaches reports whether one function uses another, directly or indirectly.
func (s source) reaches(from, to string) bool {
	seen := map[string]bool{from: true}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		for name := range s[next[0]].uses {
			if name == to {
				return true
			}
			if _, ok := s[name]; ok && !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
	}
	return false
}

func sourceOfTests(t *testing.T) source {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	functions := source{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			uses := map[string]bool{}
			if same, ok := functions[function.Name.Name]; ok {
				uses = same.uses
			}
			ast.Inspect(function.Body, func(node ast.Node) bool {
				if name, ok := node.(*ast.Ident); ok {
					uses[name.Name] = true
				}
				return true
			})
			functions[function.Name.Name] = sourceFunction{filepath.Base(path), uses}
		}
	}
	return functions
}

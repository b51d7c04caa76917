package why_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/internal/words"
)

// This page tests the words of a report and the commands that it prints.

// written is a report as text; wide has all evidence.
func written(t *testing.T, r why.Report, wide bool) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, r.WriteText(&text, wide, 0))
	return text.String()
}

// The commands that advice needs are printed, and each patch is JSON.
func TestTheCommandsOfAdvice(t *testing.T) {
	excludes := func(operator string) string {
		return `kubectl get validatingwebhookconfigurations guard -o json | jq '(.webhooks[] | ` +
			`select(.name == "b.example.com") | .namespaceSelector.matchExpressions) ` + operator +
			` [{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["shop"]}]' | kubectl replace -f -` +
			"\n"
	}
	forbidden := func(resource string) why.Type {
		u := unread("", resource, 403, resource+` is forbidden: User "u"`)
		u.Failed.Right = "list " + resource
		return u
	}
	judged(t, []row{
		is("a webhook without a server", unreachable(), "C07 proven",
			"run: "+excludes("+="), "run: when the namespace is gone: "+excludes("-="), "run: only if the add-on is "+
				"uninstalled: kubectl delete validatingwebhookconfigurations guard\n"),
		is("a name that looks like a flag is written behind its type", calm(plain(typeOf("", "configmaps",
			object("-dash", "example.com/x")))), "C04 possible", "run: kubectl -n shop describe configmaps/'-dash'\n"),
		is("of many refusals to this user one stands for all, behind what the conditions say",
			evidence(terminating(contentFailure, "said"), forbidden("configmaps"), forbidden("pods"),
				forbidden("services")), "C30 proven", "says: this user may not list configmaps, list pods, list "+
				"services\n", "only proof: said by a condition, not verified: ContentFailure: said | 403: configmaps "+
				`is forbidden: User "u"; and 2 refusals like it`),
	})
	for id, e := range situations() {
		for _, f := range why.Judge(e).Findings {
			for _, r := range f.Remedies {
				if _, patch, is := strings.Cut(r.Command, "-p '"); is {
					assert.True(t, json.Valid([]byte(strings.TrimSuffix(patch, "'"))), "%s: %s", id, patch)
				}
			}
		}
	}
}

// The flags of the cluster go to the programs of a command, and not to names that are equal.
func TestTheClusterOfACommandWithTheNameOfAProgram(t *testing.T) {
	e := calm(plain(typeOf("", "configmaps", object("kubectl", "example.com/x"))))
	e.Name, e.Cluster = "kubectl", "--context c"
	found := find(why.Judge(e), "C04")
	assert.Equal(t, "kubectl --context c -n kubectl describe configmaps kubectl", found.Remedies[0].Command)
	e = evidence(entries(nil, []string{"kubectl"}))
	e.Cluster = "--context c"
	found = find(why.Judge(e), "C18")
	assert.Equal(t, "kubectl --context c get namespace shop -o json | jq '.spec.finalizers -= [\"kubectl\"]' | "+
		"kubectl --context c replace --raw /api/v1/namespaces/shop/finalize -f -", found.Remedies[1].Command)
}

// What another cause or object needs is a remedy of its own. Safe ones come first, with the losses
// of the others.
func TestPlan(t *testing.T) {
	finding := func(id, resource, name string, remedies ...why.Remedy) why.Finding {
		return why.Finding{ID: id, Culprit: why.Reference{Resource: resource, Namespace: "shop", Name: name},
			Remedies: remedies}
	}
	scale := why.Remedy{Command: "kubectl -n db scale deployment/db --replicas=1"}
	var text strings.Builder
	require.NoError(t, why.WritePlan(&text, why.Report{Namespace: "shop", Findings: []why.Finding{
		finding("C04", "databases.example.com", "orders", scale, why.Remedy{Command: "kubectl undo",
			When: "when the namespace is gone"}, why.Remedy{Command: "kubectl patch", Loses: why.StaysBehind +
			"the database"}),
		finding("C04", "databases.example.com", "orders", scale, // another finalizer
			why.Remedy{Command: "kubectl patch other", Loses: "x"}),
		finding("C05", "databases.example.com", "orders", scale),
	}}))
	assert.Equal(t, `
C04  databases.example.com shop/orders
  kubectl -n db scale deployment/db --replicas=1
  when the namespace is gone:
  kubectl undo
  ⚠ last resort, this stays behind: the database:
  kubectl patch
  ⚠ last resort, loses x:
  kubectl patch other

C05  databases.example.com shop/orders
  kubectl -n db scale deployment/db --replicas=1
`, text.String())
}

// With --all-namespaces each reason why the examination ended early is named once.
func TestReasonsToEndEarly(t *testing.T) {
	all := []why.Evidence{plain(), plain(), plain(), plain()}
	all[1].Incomplete, all[2].Incomplete, all[3].Incomplete = "a", "b", "a"
	var text strings.Builder
	require.NoError(t, why.JudgeAll(all).WriteText(&text))
	assert.True(t, strings.HasSuffix(text.String(), "early: a\nThe examination ended early: b\n"), text.String())
	assert.Equal(t, 2, strings.Count(text.String(), "ended early"))
}

// With --all-namespaces and --watch each change has one line, also the end of a namespace.
func TestChanges(t *testing.T) {
	stuck, last := evidence(terminating(contentFailure, "x")), map[string]string{}
	gone := stuck
	gone.Second = &why.Sample{At: later}
	assert.Equal(t, []string{why.Judge(stuck).Sentence}, why.JudgeAll([]why.Evidence{stuck}).Changes(last))
	assert.Empty(t, why.JudgeAll([]why.Evidence{stuck}).Changes(last))
	assert.Equal(t, []string{`namespace "shop" was removed while it was examined`},
		why.JudgeAll([]why.Evidence{gone}).Changes(last))
	assert.Empty(t, last)
	why.JudgeAll([]why.Evidence{stuck}).Changes(last)
	assert.Equal(t, []string{`namespace "shop" is gone`}, why.JudgeAll(nil).Changes(last))
	assert.Empty(t, last)
}

// A block has all evidence, wide also its requests. What is left is named, and of many unread types
// some.
func TestTheBlocksOfAReport(t *testing.T) {
	assert.Contains(t, written(t, why.Judge(held()), true), "[sample 1: GET scaledobjects]")
	assert.NotContains(t, written(t, why.Judge(held()), false), "[sample ")
	assert.Contains(t, written(t, why.Judge(held()), false),
		"not proven: whether keda-operator runs outside this cluster is not known\n")
	remedies := find(why.Judge(held()), "C04").Remedies
	assert.Contains(t, remedies[len(remedies)-1].Command, "--type=json", "the last resort comes last")

	left := unavailable("x")
	left.Types = append(left.Types, typeOf("", "configmaps", object("a"), object("b")),
		typeOf("apps", "deployments", object("web")))
	assert.Contains(t, written(t, why.Judge(left), false),
		"3 objects left, such as configmaps/a and deployments.apps/web")

	many := plain()
	for i := range 20 {
		many.Types = append(many.Types, unread("acme.io", fmt.Sprintf("things%02d", i), 403, ""))
		many.Types[i+1].Failed.Right = "list things"
	}
	var text strings.Builder
	require.NoError(t, why.Judge(many).WriteText(&text, false, 100))
	assert.Contains(t, text.String(), "more types")
	assert.NotContains(t, text.String(), "things03.acme.io, things04.acme.io")
	assert.Len(t, why.Judge(many).Checked.Unread, 20)
}

// What stands before the first cause is written by hand. It names the causes that a genuine control
// plane has shown.
func TestThePageIsThatOfTheCatalogue(t *testing.T) {
	const path = "../../docs/operate/stuck-namespaces.md"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/examples.json")
	require.NoError(t, err)
	var examples map[string][]string
	require.NoError(t, json.Unmarshal(text, &examples))
	head, _, _ := strings.Cut(string(page), "\n## C")
	want := manual(head, examples)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		return
	}
	assert.Equal(t, want, string(page), "run: go test ./internal/why -run Page -update")
	assert.Contains(t, head, list(why.Genuine())+".")
}

// list writes words as a list: "a, b and c".
func list(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// pageWidth is the width of a Markdown page of this repository.
const pageWidth = 120

// manual returns the page of stuck namespaces as Markdown: head, which is written by hand, then one
// section for each cause, in the order of the report, and the known finalizers.
func manual(head string, examples map[string][]string) string {
	var text strings.Builder
	paragraph := func(body string) {
		fmt.Fprintln(&text)
		for _, line := range words.Wrap(body, pageWidth) {
			fmt.Fprintln(&text, line)
		}
	}
	text.WriteString(head)
	for _, cause := range why.Catalogue() {
		fmt.Fprintf(&text, "\n## %s: %s\n", cause.ID, cause.Title)
		paragraph(cause.Lesson)
		if example, ok := examples[cause.ID]; ok {
			fmt.Fprintf(&text, "\n```\n%s\n```\n", strings.Join(example, "\n"))
		}
		fmt.Fprint(&text, "\n**Do this.**\n\n")
		for _, do := range cause.Do {
			fmt.Fprintln(&text, "- "+strings.Join(words.Wrap(do, pageWidth-2), "\n  "))
		}
		if cause.DoNot != "" {
			paragraph("**Do not** " + cause.DoNot + ".")
		}
		if len(cause.Hides) > 0 {
			paragraph("It may hide " + list(cause.Hides) + ".")
		}
		if len(cause.Issues) > 0 {
			paragraph("Reported as " + cause.Reports() + ".")
		}
	}
	fmt.Fprintln(&text, "\n## Finalizers whose owners are known")
	paragraph("For other finalizers, managedFields of the object name the program that set them. To have a row, add " +
		"it to `internal/why/finalizers.yaml` with a link to the line that removes it.")
	fmt.Fprint(&text, "\n| finalizer | on | owner | protects |\n| --- | --- | --- | --- |\n")
	for _, keeper := range why.Keepers() {
		name := keeper.Name
		if keeper.Outside {
			name += ", outside the cluster"
		}
		on := "any type"
		if keeper.Types != nil {
			on = "`" + strings.Join(keeper.Types, "`, `") + "`"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", keeper.Pattern, on, name, keeper.Protects)
	}
	return text.String()
}

// Types of programs beside kube-apiserver are custom ones, also if their group ends in k8s.io.
func TestAGroupOfAnotherProgram(t *testing.T) {
	for group, custom := range map[string]bool{
		"": false, "apps": false, "storage.k8s.io": false, "policy": false, "example": true, "cluster.x-k8s.io": true,
		"gateway.networking.k8s.io": true, "snapshot.storage.k8s.io": true, "metrics.k8s.io": true,
	} {
		assert.Equal(t, custom, why.Type{Group: group}.IsCustom(), group)
	}
}

// Every cause of the catalogue has a lesson and a remedy, and hides causes that are there.
func TestCatalogue(t *testing.T) {
	ids := why.IDs()
	assert.Len(t, slices.Compact(slices.Clone(ids)), len(ids), "no id is used twice")
	for _, cause := range why.Catalogue() {
		for _, text := range append(slices.Clone(cause.Do), cause.Title, cause.Lesson, cause.Proof) {
			assert.NotEmpty(t, text, cause.ID)
		}
		assert.NotEmpty(t, cause.Do, cause.ID)
		assert.Subset(t, ids, cause.Hides, cause.ID)
	}
}

package why

import (
	"fmt"
	"strings"

	"orrery/internal/app/program"
)

//go:generate go run ./page

// words are those of the page that a reader may know with another meaning.
var words = [][2]string{
	{"the controller", "the namespace controller: that of kube-controller-manager, or `orrery run`; any other one is named"},
	{"owner of a finalizer", "the program that added it, and that removes it when it has cleaned up; not the owner of an object, which " +
		"ownerReferences name"},
	{"token", "an entry of `spec.finalizers` of the namespace; the controller's is `kubernetes`"},
	{"finalize by hand", "empty `spec.finalizers` through the subresource `finalize`: the namespace goes, and its content does not"},
	{"stranded", "still stored although the namespace is gone: no controller deletes it, and a new namespace of that name has it again"},
	{"the API server in memory", "the one of `lab serve` and `lab break`, which plays a cluster for tests and for learning"},
}

// pageWidth is the width of a Markdown page of this repository.
const pageWidth = 120

// Page returns the manual of stuck namespaces as Markdown: one section for each cause, in the order
// of the report.
func Page() string {
	var text strings.Builder
	paragraph := func(body string) {
		fmt.Fprintln(&text)
		for _, line := range program.Wrapped(body, pageWidth) {
			fmt.Fprintln(&text, line)
		}
	}
	fmt.Fprintln(&text, "# Stuck namespaces")
	paragraph("A namespace stays in Terminating. What to run, what the words of the answer mean, and what to do " +
		"with them; then each known cause, in the order of a report. The causes are generated from the catalogue " +
		"that the command uses (`go generate ./internal/why`).")
	fmt.Fprint(&text, "\n```"+`
# what keeps the namespace shop
orrery why shop

# what keeps all of them; what blocks several comes first
orrery why -A

# the commands, for your objects
orrery why shop --fix

# what a cause means, and how it is proven
orrery why --explain C07

# a line when something changes
orrery why shop --watch

# what somebody else sees in it
orrery why shop --save shop.json
orrery why --from shop.json
`+"```\n")
	paragraph("`orrery why` only reads, and it runs none of the commands that it prints. It takes two samples, " +
		"10 s apart (`--interval`). With a link in your PATH it is a plugin of kubectl, `kubectl why-terminating " +
		"shop`:")
	fmt.Fprint(&text, "\n```\nln -s \"$(command -v orrery)\" ~/bin/kubectl-why_terminating\n```\n")
	paragraph("[krew](https://krew.sigs.k8s.io) installs it from a file. `make krew` builds an archive for each " +
		"platform and a [manifest](../../deploy/krew/why-terminating.yaml) with their sums. It is in no index: " +
		"publishing is up to the owner of this repository, who has to choose a licence first.")
	fmt.Fprint(&text, "\n```\nmake krew\nkubectl krew install --manifest build/krew/why-terminating.yaml \\\n  "+
		"--archive build/krew/why-terminating-linux-amd64.tar.gz\n```\n")
	fmt.Fprint(&text, `
| word | meaning | what to do |
| --- | --- | --- |
| proven | every part of the proof was seen | what stands under DO, the first line first |
| possible | a part was not seen: "not proven" says which | find that out first; nothing with ⚠ before |
| later | it acts only after the others are gone | repair the others first, then run the command again |
| too early to tell | the deletion is less than a minute old | wait |
| not in this cluster | no workload has the name of a finalizer's owner | find out whether it runs elsewhere; `+
		`that it is gone is never proven |
`)
	paragraph("The error of a webhook, a policy or an aggregated API server dates from the controller's last " +
		"pass: a repair that changes no object shows at the next pass, within minutes. Run the command again " +
		"after a repair: a cause may hide others.")
	paragraph("Every cause is tested on the API server in memory. These are also found on a genuine control plane, " +
		"Kubernetes v1.36.3: " + listed(Genuine()) + ".")
	fmt.Fprint(&text, "\n| word | meaning |\n| --- | --- |\n")
	for _, word := range words {
		fmt.Fprintf(&text, "| %s | %s |\n", word[0], word[1])
	}
	paragraph("Conditions are named without their beginning, `NamespaceDeletion` or `Namespace`. A box shows " +
		"what `kubectl describe ns shop` says. ⚠ marks what loses data, or leaves something " +
		"behind outside the cluster. Do it only if nothing else is possible, and never as the first step." +
		" `--fix` prints the commands for your objects.")
	examples := Examples()
	for _, cause := range Catalogue() {
		fmt.Fprintf(&text, "\n## %s\n", heading(cause))
		paragraph(cause.Lesson)
		if example, ok := examples[cause.ID]; ok {
			fmt.Fprintf(&text, "\n```\n%s\n```\n", strings.Join(example.Describe, "\n"))
		}
		fmt.Fprint(&text, "\n**Do this.**\n\n")
		for _, do := range cause.Do {
			fmt.Fprintln(&text, "- "+strings.Join(program.Wrapped(do, pageWidth-2), "\n  "))
		}
		if cause.DoNot != "" {
			paragraph("**Do not** " + cause.DoNot + ".")
		}
		if len(cause.Hides) > 0 {
			paragraph("It may hide " + listed(cause.Hides) + ".")
		}
		if len(cause.Issues) > 0 {
			var issues []string
			for _, issue := range cause.Issues {
				issues = append(issues, fmt.Sprintf("kubernetes/kubernetes#%d", issue))
			}
			paragraph("Reported as " + strings.Join(issues, ", ") + ".")
		}
	}
	fmt.Fprintln(&text, "\n## Finalizers whose owners are known")
	paragraph("For other finalizers, managedFields of the object name the program that set them. `--finalizers " +
		"FILE` adds rows of your own, in the form of `internal/why/finalizers.yaml`. To have a row for " +
		"everybody, add it to that file with a link to the line in the program's source that removes the finalizer.")
	fmt.Fprint(&text, "\n| finalizer | on | owner | protects |\n| --- | --- | --- | --- |\n")
	for _, keeper := range keepers() {
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

// Genuine returns the ids of the causes that the tests also set up on a genuine control plane:
// the server in memory imitates most of them only in part.
func Genuine() []string {
	return strings.Fields("C01 C02 C03 C04 C05 C06 C07 C08 C09 C11 C13 C14 C16 C17 C19 C20 C21 C22 C23 C24 C25 C28 C30")
}

func heading(c Cause) string { return c.ID + ": " + c.Title }

package why

import (
	"fmt"
	"strings"

	"orrery/internal/program"
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
	paragraph("This page lists the known reasons why a namespace stays in Terminating, in the order of a report" +
		" of `orrery why`. It is generated from the catalogue of causes that the command uses (`go " +
		"generate ./internal/why`).")
	fmt.Fprint(&text, "\n```\norrery why shop\norrery why --explain C07\n```\n")
	paragraph("`orrery why` only reads. It calls a cause proven if every part of its" +
		" proof was seen, possible if a part was not seen, and later if it acts only after the others are" +
		" gone. `--explain` prints the proof of a cause. Run the command again after a repair: a cause " +
		"may hide others. A proof needs two samples, 10 s apart (`--interval`); with `--no-wait` only a " +
		"wait is proven. A type that could not be read never counts as empty. This page leaves out how " +
		"the names of conditions begin, `NamespaceDeletion` or `Namespace`.")
	paragraph("A proven cause can still be wrong in two cases. The error of a webhook, a policy or an " +
		"aggregated API server dates from the controller's last pass: a repair that changes no object " +
		"shows at the next pass, within minutes. And a controller outside the cluster with an " +
		"administrator's certificate and no Lease cannot be seen: before you remove a finalizer, find out" +
		" whether there is one.")
	paragraph("`orrery why shop --fix` also prints the commands of each remedy, the safe ones first. It runs none of them. " +
		"The removal of a finalizer tests that the object is the one that was seen.")
	paragraph("`orrery why -A` shows every namespace in Terminating, and `--watch` prints a line for each " +
		"change until nothing is terminating any more. With a link in your PATH it is a plugin of " +
		"kubectl, `kubectl why-terminating shop`:")
	fmt.Fprint(&text, "\n```\nln -s \"$(command -v orrery)\" ~/bin/kubectl-why_terminating\n```\n")
	paragraph("Every cause is tested on the API server in memory. These are also set up on a genuine control plane, " +
		"Kubernetes v1.36.3, and proven there: " + listed(Genuine()) + ".")
	fmt.Fprint(&text, "\n| word | meaning |\n| --- | --- |\n")
	for _, word := range words {
		fmt.Fprintf(&text, "| %s | %s |\n", word[0], word[1])
	}
	paragraph("A box shows what `kubectl describe ns shop` says. ⚠ marks what loses data, or leaves something " +
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
	paragraph("For other finalizers, managedFields of the object name the program that set them.")
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

// Genuine returns the ids of the causes that the tests also set up on a genuine control plane,
// because the server in memory only imitates them in part.
func Genuine() []string {
	return strings.Fields("C01 C02 C03 C05 C06 C07 C08 C09 C11 C13 C14 C17 C19 C20 C21 C22 C23 C24 C25 C28 C30")
}

func heading(c Cause) string { return c.ID + ": " + c.Title }

package why

import (
	"fmt"
	"strings"

	"orrery/internal/words"
)

// pageWidth is the width of a Markdown page of this repository.
const pageWidth = 120

// Page returns the manual of stuck namespaces as Markdown: head, which is written by hand, then one
// section for each cause, in the order of the report, and the known finalizers.
func Page(head string) string {
	var text strings.Builder
	paragraph := func(body string) {
		fmt.Fprintln(&text)
		for _, line := range words.Wrap(body, pageWidth) {
			fmt.Fprintln(&text, line)
		}
	}
	text.WriteString(head)
	examples := Examples()
	for _, cause := range Catalogue() {
		fmt.Fprintf(&text, "\n## %s: %s\n", cause.ID, cause.Title)
		paragraph(cause.Lesson)
		if example, ok := examples[cause.ID]; ok {
			fmt.Fprintf(&text, "\n```\n%s\n```\n", strings.Join(example.Describe, "\n"))
		}
		fmt.Fprint(&text, "\n**Do this.**\n\n")
		for _, do := range cause.Do {
			fmt.Fprintln(&text, "- "+strings.Join(words.Wrap(do, pageWidth-2), "\n  "))
		}
		if cause.DoNot != "" {
			paragraph("**Do not** " + cause.DoNot + ".")
		}
		if len(cause.Hides) > 0 {
			paragraph("It may hide " + listed(cause.Hides) + ".")
		}
		if len(cause.Issues) > 0 {
			paragraph("Reported as " + cause.issues() + ".")
		}
	}
	fmt.Fprintln(&text, "\n## Finalizers whose owners are known")
	paragraph("For other finalizers, managedFields of the object name the program that set them. To have a row, add " +
		"it to `internal/why/finalizers.yaml` with a link to the line in the program's source that removes it.")
	fmt.Fprint(&text, "\n| finalizer | on | owner | protects |\n| --- | --- | --- | --- |\n")
	for _, keeper := range Keepers() {
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

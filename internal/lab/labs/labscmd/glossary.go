package labscmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/anchor"
	"orrery/internal/lab/labs/glossary"
	"orrery/internal/lab/labs/texts"
)

func newGlossaryCommand() *cobra.Command {
	markdown, view := false, false
	command := &cobra.Command{
		Use:   "glossary [TERM]",
		Short: "Explain a term of the course",
		Long: `Explains each term that contains TERM, in English or Chinese. Without TERM it
lists all terms.`,
		Example: `  # what is the difference between a resync and a re-list?
  lab glossary resync`,
		Args: atMostOne,
		RunE: func(command *cobra.Command, args []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			g, err := glossary.Load(s.folder.Repository)
			if err != nil {
				return usage(err)
			}
			switch {
			case markdown:
				fmt.Fprint(unbroken(s.OutOrStdout()), g.Markdown(s.lang))
				return nil
			case view:
				fmt.Fprint(unbroken(s.OutOrStdout()), g.ViewJSON())
				return nil
			case len(args) == 0:
				for _, term := range g.Terms {
					fmt.Fprintf(s.OutOrStdout(), "%-24s %s\n", term.Name.English, term.Name.Chinese)
				}
				return nil
			}
			found := g.Find(args[0])
			if len(found) == 0 {
				return s.refuse("unknown-term", args[0])
			}
			for _, term := range found {
				if err := s.explain(term); err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&markdown, "markdown", false, "print the page of docs/learn, for authors")
	command.Flags().BoolVar(&view, "view", false, "print the terms of the live view as JSON, for authors")
	return command
}

// explain prints a term.
func (s *session) explain(term glossary.Term) error {
	place, err := anchor.Resolve(s.folder.Repository, term.Code)
	if err != nil {
		return usage(err)
	}
	fmt.Fprintf(s.OutOrStdout(), "%s · %s\n%s\n", term.Name.English, term.Name.Chinese, s.paragraph(term.Text))
	if term.Not.Complete() {
		other := s.lang.Say("not-to-be-confused", term.Not.In(s.lang))
		fmt.Fprintln(s.OutOrStdout(), s.paragraph(texts.Text{English: other, Chinese: other}))
	}
	if len(term.Labs) > 0 {
		s.print("term-labs", strings.Join(term.Labs, " "))
	}
	fmt.Fprintln(s.OutOrStdout(), place)
	return nil
}

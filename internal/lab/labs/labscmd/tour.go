package labscmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/anchor"
	"orrery/internal/lab/labs/texts"
	"orrery/internal/lab/labs/tour"
)

func newTourCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tour [STOP]",
		Short: "Read the way of one event, in 15 stops",
		Long: `Leads through the code along the way of one event, from the watch decoder to the
finalizer. Each stop names a function to read in your editor, says what to look
for, and asks a question. Without STOP it lists the stops. The tour takes 45
minutes.`,
		Example: `  # where does it go?
  lab tour

  # the first stop
  lab tour 1`,
		Args:              atMostOne,
		ValidArgsFunction: completeStop,
		RunE: func(command *cobra.Command, args []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			trip, err := tour.Load(s.folder.Repository)
			if err != nil {
				return usage(err)
			}
			if len(args) == 0 {
				for i, stop := range trip.Stops {
					fmt.Fprintf(s.OutOrStdout(), "%2d  %s\n", i+1, stop.At)
				}
				s.print("tour-takes", len(trip.Stops)*trip.Minutes)
				return nil
			}
			number, err := strconv.Atoi(args[0])
			if err != nil || number < 1 || number > len(trip.Stops) {
				return s.refuse("unknown-stop", args[0], len(trip.Stops))
			}
			return s.visit(trip, number)
		},
	}
}

// completeStop completes the number of a stop.
func completeStop(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := open(command)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	trip, err := tour.Load(s.folder.Repository)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var numbers []string
	for i, stop := range trip.Stops {
		numbers = append(numbers, fmt.Sprintf("%d\t%s", i+1, stop.At))
	}
	return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// visit prints a stop: where it is, the first paragraph of the function's comment, and the texts.
func (s *session) visit(trip *tour.Tour, number int) error {
	stop := trip.Stops[number-1]
	place, err := anchor.Resolve(s.folder.Repository, stop.At)
	if err != nil {
		return usage(err)
	}
	doc, _, _ := strings.Cut(place.Doc, "\n\n")
	doc = strings.Join(strings.Fields(doc), " ")
	doc = texts.Text{English: doc}.Wrapped(texts.English, s.width()) // also in Chinese
	s.print("tour-stop", number, len(trip.Stops))
	fmt.Fprintf(s.OutOrStdout(), "%s\n\n%s\n\n", place, doc)
	s.print("tour-look")
	fmt.Fprintln(s.OutOrStdout(), s.paragraph(stop.Look)+"\n")
	s.print("tour-question")
	fmt.Fprintln(s.OutOrStdout(), s.paragraph(stop.Question)+"\n")
	for _, lab := range s.labs {
		if lab.Page(place.File) != nil {
			s.print("tour-lab", lab.ID, lab.Title.In(s.lang))
		}
	}
	if number < len(trip.Stops) {
		s.print("tour-next", number+1)
	}
	return nil
}

package labscmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/schedule"
	"orrery/internal/lab/labs/texts"
)

func newScheduleCommand() *cobra.Command {
	var format outputFormat
	start, ids := clock(9*60), []string{}
	command := &cobra.Command{
		Use:   "schedule [NAME]",
		Short: "Print the timetable of a course, for teachers",
		Long: `Prints a timetable that is computed from the minutes in the labs' manifests.
Without NAME and --labs it lists the plans. --labs makes a course of these labs,
with the minutes of a full day, or of the plan that NAME says.`,
		Example: `  # half a day that begins at 14:00
  lab schedule half-day --start 14:00

  # three labs
  lab schedule --labs 04,05,08`,
		Args:              atMostOne,
		ValidArgsFunction: completePlan,
		RunE: func(command *cobra.Command, args []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			course, err := schedule.Load(s.folder.Repository)
			if err != nil {
				return usage(err)
			}
			if len(args) == 0 && len(ids) == 0 {
				return s.listPlans(course, format)
			}
			plan, err := s.plan(course, args, ids)
			if err != nil {
				return err
			}
			table, err := course.Timetable(plan, s.labs)
			if err != nil {
				return usage(err)
			}
			if int(start)+table.Minutes > 24*60 {
				return s.refuse("schedule-midnight", table.Minutes, start.String())
			}
			if format == jsonOutput {
				return writeJSON(s.OutOrStdout(), s.timetableJSON(table, start))
			}
			s.printTimetable(table, start)
			return nil
		},
	}
	command.Flags().Var(&start, "start", "when the course begins")
	command.Flags().StringSliceVar(&ids, "labs", nil, "the labs, in this order")
	format.addTo(command)
	return command
}

// completePlan completes the name of a plan.
func completePlan(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := open(command)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	course, err := schedule.Load(s.folder.Repository)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, plan := range course.Plans {
		names = append(names, plan.Name+"\t"+plan.Title.In(s.lang))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// plan returns the plan that the arguments name, with the labs of --labs.
func (s *session) plan(course *schedule.Course, args, ids []string) (schedule.Plan, error) {
	plan := schedule.Plan{Name: "--labs", Column: schedule.Day}
	if len(args) > 0 {
		named := course.Plan(args[0])
		if named == nil {
			var names []string
			for _, each := range course.Plans {
				names = append(names, each.Name)
			}
			return plan, s.refuse("unknown-plan", args[0], strings.Join(names, ", "))
		}
		plan = *named
	}
	if len(ids) == 0 {
		return plan, nil
	}
	plan.Labs, plan.Title, plan.Spare = nil, texts.Text{}, 0
	for _, id := range ids {
		if lab, _ := manifest.Find(s.labs, id); lab != nil {
			id = lab.ID
		}
		plan.Labs = append(plan.Labs, id)
	}
	return plan, nil
}

// planJSON is a timetable as JSON.
type planJSON struct {
	Name    string    `json:"name"`
	Title   string    `json:"title,omitempty"`
	Minutes int       `json:"minutes"`
	Rows    []rowJSON `json:"rows"`
}

type rowJSON struct {
	At      string `json:"at"`
	Minutes int    `json:"minutes"`
	Lab     string `json:"lab,omitempty"`
	Title   string `json:"title"`
	Planned bool   `json:"planned,omitempty"`
	// Instead is what takes the place of a planned lab.
	Instead string `json:"instead,omitempty"`
}

func (s *session) timetableJSON(table schedule.Timetable, start clock) planJSON {
	result := planJSON{Name: table.Plan.Name, Title: table.Plan.Title.In(s.lang), Minutes: table.Minutes}
	for _, r := range table.Rows {
		result.Rows = append(result.Rows, rowJSON{
			At: (start + clock(r.At)).String(), Minutes: r.Minutes, Lab: r.Lab, Title: r.Title.In(s.lang), Planned: r.Planned, Instead: r.Instead.In(s.lang),
		})
	}
	return result
}

// listPlans prints the plans with their minutes.
func (s *session) listPlans(course *schedule.Course, format outputFormat) error {
	plans := []planJSON{}
	for _, plan := range course.Plans {
		table, err := course.Timetable(plan, s.labs)
		if err != nil {
			return usage(err)
		}
		plans = append(plans, s.timetableJSON(table, 9*60))
	}
	if format == jsonOutput {
		return writeJSON(s.OutOrStdout(), plans)
	}
	for _, plan := range plans {
		fmt.Fprintf(s.OutOrStdout(), "%-10s %s  %s\n", plan.Name, s.lang.Say("minutes", plan.Minutes), plan.Title)
	}
	s.print("schedule-more")
	return nil
}

func (s *session) printTimetable(table schedule.Timetable, start clock) {
	if title := table.Plan.Title.In(s.lang); title != "" {
		fmt.Fprintf(s.OutOrStdout(), "%s: %s\n", table.Plan.Name, title)
	}
	rows := s.timetableJSON(table, start).Rows
	for _, r := range rows {
		title := r.Title
		if r.Planned {
			title = s.lang.Say("schedule-planned", title)
		}
		fmt.Fprintf(s.OutOrStdout(), "%s  %s  %2s  %s\n", r.At, s.lang.Say("minutes", r.Minutes), r.Lab, title)
	}
	s.print("schedule-end", (start + clock(table.Minutes)).String(), table.Minutes)
	for _, r := range rows {
		if r.Planned {
			s.print("schedule-instead", r.Lab, r.Instead)
		}
	}
}

// clock is a time of the day in minutes, as the value of a flag.
type clock int

func (c clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// Set parses a time such as 09:00.
func (c *clock) Set(text string) error {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return errors.New("a time such as 09:00 is expected")
	}
	*c = clock(at.Hour()*60 + at.Minute())
	return nil
}

// Type is what the help calls the value.
func (*clock) Type() string { return "time" }

// Package schedule computes the timetables of courses. The plans are in workshop/schedules.yaml,
// and the minutes in the manifests of the labs, so a timetable never disagrees with a lab.
package schedule

import (
	"fmt"
	"path/filepath"
	"slices"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
)

// File is the file of the plans, relative to the repository.
const File = "workshop/schedules.yaml"

// Course is the content of the file.
type Course struct {
	Welcome Block `yaml:"welcome"`
	Break   Break `yaml:"break"`
	Close   Block `yaml:"close"`
	// Spare names the time that a plan leaves over. The plan sets its minutes.
	Spare   texts.Text `yaml:"spare"`
	Plans   []Plan     `yaml:"plans"`
	Planned []Planned  `yaml:"planned"`
}

// Block is a part of a timetable that is not a lab.
type Block struct {
	Minutes    int `yaml:"minutes"`
	texts.Text `yaml:",inline"`
}

// Break is the block that comes once for every so many minutes of labs.
type Break struct {
	Block `yaml:",inline"`
	Every int `yaml:"every"`
}

// Plan is a named course.
type Plan struct {
	Name  string     `yaml:"name"`
	Title texts.Text `yaml:"title"`
	// Column is the column of the labs' minutes that counts.
	Column Column   `yaml:"column"`
	Labs   []string `yaml:"labs"`
	// Spare are minutes at the end without a task.
	Spare int `yaml:"spare"`
	// Target is what the whole plan must take.
	Target int `yaml:"target"`
}

// Column names one of a lab's minutes.
type Column string

const (
	Half Column = "half"
	Day  Column = "day"
)

// of returns the minutes in the column; 0 means that the lab is not part of such a course.
func (c Column) of(minutes manifest.Minutes) int {
	if c == Half {
		return minutes.Half
	}
	return minutes.Day
}

// Planned describes a lab that has no manifest yet.
type Planned struct {
	ID      string           `yaml:"id"`
	Title   texts.Text       `yaml:"title"`
	Minutes manifest.Minutes `yaml:"minutes"`
	// Instead says what a course does in the minutes of the lab until it is there.
	Instead texts.Text `yaml:"instead"`
}

// Load reads the plans of a repository.
func Load(repository string) (*Course, error) {
	course := &Course{}
	return course, manifest.Read(filepath.Join(repository, filepath.FromSlash(File)), course)
}

// Plan returns the plan with that name, or nil.
func (c *Course) Plan(name string) *Plan {
	if i := slices.IndexFunc(c.Plans, func(p Plan) bool { return p.Name == name }); i >= 0 {
		return &c.Plans[i]
	}
	return nil
}

// Problems returns what is wrong with the plans: a text that lacks a language, a lab that is in no
// plan, minutes that miss the target.
func (c *Course) Problems(labs []*manifest.Lab) (problems []string) {
	report := func(bad bool, format string, arguments ...any) {
		if bad {
			problems = append(problems, File+": "+fmt.Sprintf(format, arguments...))
		}
	}
	for name, text := range map[string]texts.Text{"welcome": c.Welcome.Text, "break": c.Break.Text, "close": c.Close.Text, "spare": c.Spare} {
		report(!text.Complete(), "%s: a language is missing", name)
	}
	report(c.Break.Every <= 0, "break: every must be positive")
	if len(problems) > 0 {
		return problems
	}
	for _, planned := range c.Planned {
		report(!planned.Instead.Complete(), "planned lab %s: instead lacks a language", planned.ID)
	}
	for _, plan := range c.Plans {
		report(!plan.Title.Complete(), "%s: a language of the title is missing", plan.Name)
		report(plan.Column != Half && plan.Column != Day, "%s: column %q is neither half nor day", plan.Name, plan.Column)
		table, err := c.Timetable(plan, labs)
		if err != nil {
			report(true, "%v", err)
			continue
		}
		report(table.Minutes != plan.Target, "%s takes %d minutes, and its target is %d", plan.Name, table.Minutes, plan.Target)
	}
	for _, lab := range labs {
		in := slices.ContainsFunc(c.Plans, func(p Plan) bool { return slices.Contains(p.Labs, lab.ID) })
		report(!in, "no plan has lab %s", lab.ID)
	}
	return problems
}

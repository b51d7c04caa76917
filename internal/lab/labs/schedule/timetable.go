package schedule

import (
	"fmt"
	"slices"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
)

// Timetable is a plan with its minutes added up.
type Timetable struct {
	Plan    Plan
	Rows    []Row
	Minutes int
}

// Row is a part of a timetable.
type Row struct {
	// At is when it begins, in minutes after the beginning of the course.
	At      int
	Minutes int
	Title   texts.Text
	// Lab is the lab's id, or "".
	Lab string
	// Planned reports that the lab has no manifest yet. Instead is what takes its place.
	Planned bool
	Instead texts.Text
}

// Timetable computes the timetable of a plan.
func (c *Course) Timetable(plan Plan, labs []*manifest.Lab) (Timetable, error) {
	var rows []Row
	for i, id := range plan.Labs {
		if slices.Contains(plan.Labs[:i], id) {
			return Timetable{}, fmt.Errorf("%s: lab %s is given twice", plan.Name, id)
		}
		row, err := c.row(plan.Column, id, labs)
		if err != nil {
			return Timetable{}, fmt.Errorf("%s: %w", plan.Name, err)
		}
		rows = append(rows, row)
	}
	rows = c.withBreaks(rows)
	rows = slices.Insert(rows, 0, Row{Minutes: c.Welcome.Minutes, Title: c.Welcome.Text})
	if plan.Spare > 0 {
		rows = append(rows, Row{Minutes: plan.Spare, Title: c.Spare})
	}
	rows = append(rows, Row{Minutes: c.Close.Minutes, Title: c.Close.Text})
	table := Timetable{Plan: plan, Rows: rows}
	for i := range rows {
		rows[i].At = table.Minutes
		table.Minutes += rows[i].Minutes
	}
	return table, nil
}

// row returns the row of a lab, by its manifest or else by its entry among the planned ones.
func (c *Course) row(column Column, id string, labs []*manifest.Lab) (Row, error) {
	row := Row{Lab: id}
	var minutes manifest.Minutes
	if i := slices.IndexFunc(labs, func(l *manifest.Lab) bool { return l.ID == id }); i >= 0 {
		row.Title, minutes = labs[i].Title, labs[i].Minutes
	} else if i := slices.IndexFunc(c.Planned, func(p Planned) bool { return p.ID == id }); i >= 0 {
		planned := c.Planned[i]
		row.Title, minutes, row.Planned, row.Instead = planned.Title, planned.Minutes, true, planned.Instead
	} else {
		return row, fmt.Errorf("there is no lab %s", id)
	}
	if row.Minutes = column.of(minutes); row.Minutes <= 0 {
		return row, fmt.Errorf("lab %s has no minutes under %q in its manifest", id, column)
	}
	return row, nil
}

// withBreaks inserts the breaks. They divide the time of the labs as evenly as the labs allow, and
// none is before the first lab or after the last.
func (c *Course) withBreaks(labs []Row) (rows []Row) {
	total := 0
	for _, lab := range labs {
		total += lab.Minutes
	}
	breaks := total / c.Break.Every
	after := map[int]bool{} // the indexes of labs
	for n := range breaks {
		ideal, elapsed, best, distance := total*(n+1)/(breaks+1), 0, -1, total
		for i, lab := range labs[:len(labs)-1] {
			elapsed += lab.Minutes
			if d := max(ideal-elapsed, elapsed-ideal); d < distance {
				best, distance = i, d
			}
		}
		after[best] = true
	}
	for i, lab := range labs {
		if rows = append(rows, lab); after[i] {
			rows = append(rows, Row{Minutes: c.Break.Minutes, Title: c.Break.Text})
		}
	}
	return rows
}

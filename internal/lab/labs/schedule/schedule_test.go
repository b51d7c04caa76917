package schedule_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/schedule"
	"orrery/internal/lab/labs/texts"
)

// load returns the repository's plans and labs.
func load(t *testing.T) (*schedule.Course, []*manifest.Lab) {
	t.Helper()
	repository, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	course, err := schedule.Load(repository)
	require.NoError(t, err)
	labs, err := manifest.LoadAll(repository)
	require.NoError(t, err)
	return course, labs
}

func TestThePlansKeepTheirTargets(t *testing.T) {
	course, labs := load(t)
	assert.Empty(t, course.Problems(labs))
	for name, want := range map[string]int{"half-day": 240, "day-1": 240, "day-2": 240, "extra": 90} {
		table, err := course.Timetable(*course.Plan(name), labs)
		require.NoError(t, err)
		assert.Equal(t, want, table.Minutes, name)
		last := table.Rows[len(table.Rows)-1]
		assert.Equal(t, want, last.At+last.Minutes, name)
	}
	assert.Nil(t, course.Plan("no-such-plan"))
}

func TestWhatIsWrongWithAPlanIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(*schedule.Course, []*manifest.Lab){
		"half-day takes 245 minutes, and its target is 240": func(_ *schedule.Course, labs []*manifest.Lab) { find(labs, "08").Minutes.Half += 5 },
		"extra takes 91 minutes, and its target is 90":      func(_ *schedule.Course, labs []*manifest.Lab) { find(labs, "10").Minutes.Day++ },
		"extra takes 89 minutes, and its target is 90":      func(_ *schedule.Course, labs []*manifest.Lab) { find(labs, "10").Minutes.Day-- },
		"half-day: there is no lab 77":                      func(c *schedule.Course, _ []*manifest.Lab) { c.Plan("half-day").Labs[6] = "77" },
		`half-day: lab 03 has no minutes under "half"`:      func(c *schedule.Course, _ []*manifest.Lab) { c.Plan("half-day").Labs[6] = "03" },
		"no plan has lab 10":                                func(c *schedule.Course, _ []*manifest.Lab) { c.Plans = c.Plans[:3] },
		"break: every must be positive":                     func(c *schedule.Course, _ []*manifest.Lab) { c.Break.Every = 0 },
		"half-day: lab 08 is given twice":                   func(c *schedule.Course, _ []*manifest.Lab) { c.Plan("half-day").Labs[6] = "08" },
		"planned lab 77: instead lacks a language": func(c *schedule.Course, _ []*manifest.Lab) {
			c.Planned = append(c.Planned, schedule.Planned{ID: "77", Instead: texts.Text{English: "talk"}})
		},
		"close: a language is missing":              func(c *schedule.Course, _ []*manifest.Lab) { c.Close.Chinese = "" },
		"extra: a language of the title is missing": func(c *schedule.Course, _ []*manifest.Lab) { c.Plan("extra").Title.English = " " },
	} {
		course, labs := load(t)
		spoil(course, labs)
		problems := course.Problems(labs)
		require.NotEmpty(t, problems, want)
		assert.Contains(t, problems[0], want)
	}
}

func find(labs []*manifest.Lab, id string) *manifest.Lab {
	lab, _ := manifest.Find(labs, id)
	return lab
}

func TestAManifestTakesPrecedenceOverAPlannedLab(t *testing.T) {
	course := &schedule.Course{
		Break:   schedule.Break{Every: 120},
		Planned: []schedule.Planned{{ID: "77", Title: texts.Text{English: "planned"}, Minutes: manifest.Minutes{Day: 30}}},
	}
	plan := schedule.Plan{Column: schedule.Day, Labs: []string{"77"}}
	table, err := course.Timetable(plan, nil)
	require.NoError(t, err)
	assert.Equal(t, schedule.Row{At: 0, Minutes: 30, Title: texts.Text{English: "planned"}, Lab: "77", Planned: true}, table.Rows[1])

	table, err = course.Timetable(plan, []*manifest.Lab{{ID: "77", Title: texts.Text{English: "real"}, Minutes: manifest.Minutes{Day: 35}}})
	require.NoError(t, err)
	assert.Equal(t, schedule.Row{At: 0, Minutes: 35, Title: texts.Text{English: "real"}, Lab: "77"}, table.Rows[1])
}

// A break comes once for every 120 minutes of labs, between two labs, as near to equal parts as
// the labs allow.
func TestBreaksDivideTheLabs(t *testing.T) {
	for _, c := range []struct {
		labs []int
		want []int
	}{
		{[]int{50, 60}, []int{50, 60}},
		{[]int{60, 60}, []int{60, 0, 60}},
		{[]int{20, 25, 25, 40, 35, 30, 20}, []int{20, 25, 25, 40, 0, 35, 30, 20}},
		{[]int{90, 90, 90, 90}, []int{90, 0, 90, 0, 90, 0, 90}},
		{[]int{200}, []int{200}},
		{[]int{200, 100}, []int{200, 0, 100}},
	} {
		var labs []*manifest.Lab
		plan := schedule.Plan{Column: schedule.Day}
		for i, minutes := range c.labs {
			id := string(rune('a' + i))
			labs = append(labs, &manifest.Lab{ID: id, Minutes: manifest.Minutes{Day: minutes}})
			plan.Labs = append(plan.Labs, id)
		}
		course := &schedule.Course{Break: schedule.Break{Every: 120}}
		table, err := course.Timetable(plan, labs)
		require.NoError(t, err)
		var got []int
		for _, row := range table.Rows[1 : len(table.Rows)-1] {
			got = append(got, row.Minutes)
		}
		assert.Equal(t, c.want, got)
	}
}

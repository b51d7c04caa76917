package labscmd

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/schedule"
)

const plans = `welcome: {minutes: 15, en: Welcome, zh-CN: 开场}
break: {minutes: 20, every: 120, en: Break, zh-CN: 休息}
close: {minutes: 10, en: Close, zh-CN: 收尾}
spare: {en: Questions, zh-CN: 提问}
plans:
  - {name: short, title: {en: One lab, zh-CN: 一个实验}, column: day, labs: ["04", "05"], spare: 5, target: 60}
planned:
  - {id: "05", title: {en: Later, zh-CN: 以后}, minutes: {day: 20}, instead: {en: watch a scene, zh-CN: 看一个场景}}
`

func TestTimetables(t *testing.T) {
	repository(t)
	labtest.Write(t, schedule.File, plans)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "short       60 min  One lab\nA timetable: lab schedule half-day --start 09:00\nA course of your own: lab schedule --labs 04,05,08\n"},
		{[]string{"short", "--start", "23:00"}, `short: One lab
23:00   15 min      Welcome
23:15   10 min  04  Counter
23:25   20 min  05  Later (planned)
23:45    5 min      Questions
23:50   10 min      Close
24:00  End, after 60 minutes
Lab 05 is not written yet. In its place: watch a scene
`},
		{[]string{"--labs", "4", "--lang", "zh-CN"}, `09:00   15 分钟      开场
09:15   10 分钟  04  计数器
09:25   10 分钟      收尾
09:35  结束，共 35 分钟
`},
	} {
		code, stdout, stderr := lab(t, append([]string{"schedule"}, c.args...)...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, c.want, stdout)
	}
	for want, args := range map[string][]string{
		`there is no plan "long"; the plans: short`:               {"long"},
		"--labs: there is no lab 77":                              {"--labs", "77"},
		"--labs: lab 04 is given twice":                           {"--labs", "04,counter"},
		"a course of 60 minutes from 23:01 ends after midnight":   {"short", "--start", "23:01"},
		`invalid argument "9" for "--start" flag: a time such as`: {"--start", "9"},
	} {
		code, _, stderr := lab(t, append([]string{"schedule"}, args...)...)
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, want)
	}
	_, stdout, _ := lab(t, "schedule", "short", "-o", "json")
	var table planJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &table))
	assert.Equal(t, rowJSON{At: "09:25", Minutes: 20, Lab: "05", Title: "Later", Planned: true, Instead: "watch a scene"}, table.Rows[2])
	assert.Equal(t, 60, table.Minutes)
}

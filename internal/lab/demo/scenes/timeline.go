package scenes

import (
	"context"
	"strings"
	"time"

	"orrery/internal/lab/demo/story"
	"orrery/wait"
)

// timeLine shows the runs of one loop in a row of the panel.
type timeLine struct {
	teller *story.Teller
	name   string
	began  time.Duration // the time of the first column

	runs []timeSpan // guarded by the teller's lock
}

// timeSpan is one run. While it runs, to is 0.
type timeSpan struct{ from, to time.Duration }

// newTimeLines returns time lines that begin now.
func newTimeLines(teller *story.Teller, names ...string) []*timeLine {
	var lines []*timeLine
	for _, name := range names {
		lines = append(lines, &timeLine{teller: teller, name: name, began: teller.State().Elapsed})
	}
	return lines
}

// drawTimeLines draws the lines again and again until ctx ends.
func drawTimeLines(ctx context.Context, lines []*timeLine) {
	for wait.Sleep(ctx, timeColumn/2) == nil {
		for _, line := range lines {
			line.teller.Update(line.show)
		}
	}
}

// record calls run and records when it starts and ends; number counts the runs from 1. It lets a
// panic pass.
func (l *timeLine) record(run func(number int)) {
	number := 0
	l.teller.Update(func(s *story.State) {
		l.runs = append(l.runs, timeSpan{from: s.Elapsed})
		number = len(l.runs)
	})
	defer l.teller.Update(func(s *story.State) { l.runs[number-1].to = s.Elapsed })
	run(number)
}

// The columns of a time line.
const (
	timeColumn  = 150 * time.Millisecond
	timeColumns = 56
)

// show draws the line until now: "1" is the start of run 1, "█" a column in which a run runs.
func (l *timeLine) show(s *story.State) {
	var text strings.Builder
	for i := range timeColumns {
		at := l.began + time.Duration(i)*timeColumn
		if at > s.Elapsed {
			break
		}
		mark := "░"
		for n, run := range l.runs {
			switch {
			case run.from >= at && run.from < at+timeColumn:
				mark = string(rune('0' + (n+1)%10))
			case run.from < at && (run.to == 0 || run.to > at):
				mark = "█"
			}
		}
		text.WriteString(mark)
	}
	s.Show(l.name, "%s", text.String())
}

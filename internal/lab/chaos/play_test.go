package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing/synctest"
	"time"
)

// play carries out a plan with the given sabotage, and checks the run. It must be called inside a
// testing/synctest bubble, and returns when nothing of the run is left in it.
func play(p Plan, s sabotage) *Report {
	w, err := newWorld(p, s)
	if err != nil {
		return &Report{Failure: failureOf("at the start", 0, []string{err.Error()})}
	}
	report := &Report{}
	report.Failure = w.run()
	for _, process := range w.running() {
		process.stop()
	}
	if report.Failure == nil {
		synctest.Wait() // until the server notices
		report.Failure = failureOf("after the end", len(p.Storms), w.remains())
	}
	w.fill(report)
	w.stopServer()
	if report.Failure == nil {
		report.Failure = failureOf("when everything had ended", len(p.Storms), leftBehind())
	}
	return report
}

// run plays the storms, with a quiet point after each, and returns the failure, or nil.
func (w *world) run() *Failure {
	for _, plan := range w.plan.Processes {
		one, err := newProcess(w, plan)
		if err != nil {
			return failureOf("at the start", 0, []string{err.Error()})
		}
		w.processes = append(w.processes, one)
	}
	for _, one := range w.running() {
		one.start()
	}
	if w.sabotage.begun != nil {
		w.sabotage.begun(w)
	}
	for i, storm := range w.plan.Storms {
		w.storm(storm)
		if wrong := w.becomeQuiet(timeout, w.differences); len(wrong) > 0 {
			return failureOf(fmt.Sprintf("at the quiet point after storm %d", i), i+1, wrong)
		}
	}
	w.releaseAll()
	end := func() []string { return append(w.differences(), w.unfinished()...) }
	return failureOf("at the end", len(w.plan.Storms), w.becomeQuiet(finalTimeout, end))
}

// The time to converge after the end of all faults, and the time for all deletions to end after the
// last storm. The first is the sum of delays that may follow one another: a dead connection is
// noticed within a minute, a back-off lasts at most another, and a hanging list is abandoned after
// listTimeout.
const (
	timeout      = 4 * time.Minute
	finalTimeout = 8 * time.Minute
	lookEvery    = 5 * time.Second
)

// storm performs the steps of a storm.
func (w *world) storm(s Storm) {
	w.quiet.Store(false)
	begun := time.Now()
	for _, step := range s.Steps {
		time.Sleep(time.Until(begun.Add(step.At)))
		w.perform(step)
	}
	time.Sleep(time.Until(begun.Add(s.Length)))
}

// becomeQuiet ends all faults and waits until all checks pass. It returns the problems that remain
// after the time limit. It does not wait for errors that can never be corrected.
func (w *world) becomeQuiet(timeout time.Duration, wrong func() []string) []string {
	w.under.Wait()
	w.quiet.Store(true)
	for _, p := range w.running() {
		p.link.Heal()
	}
	for _, fault := range w.current().Faults().List() {
		w.current().Faults().Remove(fault.ID)
	}
	begun := time.Now()
	for {
		time.Sleep(lookEvery)
		synctest.Wait()
		if violations := w.violations(); len(violations) > 0 {
			return violations
		}
		differences := wrong()
		if len(differences) == 0 {
			return nil
		}
		if time.Since(begun) >= timeout {
			return differences
		}
	}
}

// stopServer ends the server and waits for its goroutines.
func (w *world) stopServer() {
	ctx, cancel := context.WithTimeout(context.Background(), gentleStop)
	defer cancel()
	w.current().Stop(ctx)
	w.serving.Wait()
	w.outside.remove()
	if w.sabotage.stopped != nil {
		w.sabotage.stopped(w)
	}
}

// Report is the result of a run, as plain data.
type Report struct {
	Events int // received by handlers
	Passes int // of the namespace controller

	// Failure is nil if the run passed.
	Failure *Failure
}

// Failure describes the errors of a run.
type Failure struct {
	When        string // the point of the run at which it was noticed
	Storms      int    // how many had been played
	Differences []string
}

// failureOf returns nil if there are no differences.
func failureOf(when string, storms int, differences []string) *Failure {
	if len(differences) == 0 {
		return nil
	}
	return &Failure{When: when, Storms: storms, Differences: differences}
}

// fill copies the counts into the report.
func (w *world) fill(r *Report) {
	for _, p := range w.allProcesses() {
		for _, s := range p.subjects {
			r.Events += s.events()
		}
		if p.passes != nil {
			r.Passes += p.passes.count()
		}
	}
}

// Explain returns the failure as text: the errors, and the steps of the plan up to the point where
// they were noticed.
func (f *Failure) Explain(p Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wrong %s:\n", f.When)
	for _, difference := range f.Differences {
		fmt.Fprintf(&b, "  - %s\n", difference)
	}
	for i, storm := range p.Storms[:f.Storms] {
		fmt.Fprintf(&b, "storm %d, of %s:\n", i, storm.Length)
		for _, step := range storm.Steps {
			fmt.Fprintf(&b, "  %s\n", step)
		}
	}
	return b.String()
}

package fork

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/gears"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/observe/trace"
)

// Input is something that was done to a recorded run from outside.
type Input struct {
	Number    int           `json:"n"` // from 1
	Seq       uint64        `json:"s"` // of its event
	At        time.Duration `json:"-"` // since the start
	Name      string        `json:"name"`
	Arguments string        `json:"args,omitempty"`
	// Refused says why there is no fork at this input; nil if there is.
	Refused *Refusal `json:"refused,omitempty"`

	pause time.Duration // until the next input
	after settled       // before the next input
}

func (i Input) String() string { return strings.TrimSpace(i.Name + " " + i.Arguments) }

// Refusal is a reason not to fork. Code is its name in the page's sentences, Args fill them.
type Refusal struct {
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
	text string
}

func (r *Refusal) Error() string { return r.text }

// Recording is what a fork needs of a recording.
type Recording struct {
	Scene scenes.Scene `json:"-"`
	Gears gears.Set    `json:"-"`
	// Inputs are all inputs. With Refused there is no fork at any of them.
	Inputs  []Input  `json:"inputs"`
	Refused *Refusal `json:"refused,omitempty"`
	// Ended: the recording has its end.
	Ended bool `json:"-"`
}

// Read reads a recording.
func Read(from io.Reader) (*Recording, error) {
	r := &reader{state: trace.NewState()}
	header, err := trace.Read(from, r.add)
	if err != nil {
		return nil, err
	}
	r.end(r.state.Time)
	r.Ended = r.state.Ended != ""
	r.refuse(header)
	return &r.Recording, nil
}

type reader struct {
	Recording
	state  *trace.State
	behind *Refusal // of every input from here on
	other  string   // a user that wrote to the server, besides those of the scene
	begun  bool
	middle bool     // the recording is a later part of a run
	acted  int64    // the time of the last event of a gear
	faults []string // active
}

func (r *reader) add(e *trace.Event, broken *trace.LineError) error {
	switch {
	case broken != nil && broken.Cut:
		return nil
	case broken != nil:
		r.behind = cmp.Or(r.behind, &Refusal{Code: "broken", Args: map[string]string{"line": fmt.Sprint(broken.Line)},
			text: fmt.Sprintf("line %d of the recording is broken, so an input before this one may be missing; fork at an input before that line", broken.Line)})
		return nil
	case !r.begun:
		r.begun, r.middle = true, e.Seq > 1 || e.State != nil && e.State.Seq > 0
	case e.Seq != r.state.Seq+1: // a page that was too slow, or has forgotten the first events, has saved the recording
		r.lost()
	}
	switch {
	case e.Name == "lab.input":
		if act, known := actions[e.Label]; !known || act != nil {
			r.end(e.Time)
			r.input(e)
		}
	case e.Name == "apiserver.requestDone" && !slices.Contains(users, e.User):
		r.other = cmp.Or(r.other, e.User)
	case e.Name == "trace.lost" && e.Lost["lab"]+e.Lost["apiserver"] > 0:
		r.lost()
	}
	r.state.Apply(e)
	if gear, hook, _ := strings.Cut(e.Name, "."); gear != "lab" && gear != "trace" && hook != "handled" && hook != "handlerCalled" { // a slow handler is busy for long
		r.acted = e.Time
	}
	return nil
}

func (r *reader) lost() {
	r.behind = cmp.Or(r.behind, &Refusal{Code: "lost",
		text: "events of the laboratory were lost, so an input before this one may be missing; fork at an earlier input"})
}

// users are those of a scene.
var users = slices.Collect(maps.Values(stage.Users()))

func (r *reader) input(e *trace.Event) {
	input := Input{Number: len(r.Inputs) + 1, Seq: e.Seq, At: time.Duration(e.Time) * time.Microsecond, Name: e.Label, Arguments: e.Arguments}
	if _, known := actions[e.Label]; !known {
		r.behind = cmp.Or(r.behind, &Refusal{Code: "unknown", Args: map[string]string{"name": e.Label},
			text: fmt.Sprintf("this program does not know the input %q; use the version that made the recording", e.Label)})
	} else if e.Cut() {
		r.behind = cmp.Or(r.behind, &Refusal{Code: "cut", Args: map[string]string{"name": e.Label},
			text: fmt.Sprintf("the arguments of the input %q were too long for the recording; fork at an input before it", e.Label)})
	}
	switch input.Name {
	case "fault":
		r.faults = append(r.faults, input.Arguments)
	case "repair":
		if i := slices.Index(r.faults, input.Arguments); i >= 0 {
			r.faults = slices.Delete(r.faults, i, i+1)
		}
	}
	input.Refused = r.behind
	r.Inputs = append(r.Inputs, input)
}

// end is called when the time after the last input is over: at the next input, or at the end.
func (r *reader) end(now int64) {
	if len(r.Inputs) == 0 {
		return
	}
	last := &r.Inputs[len(r.Inputs)-1]
	last.pause = time.Duration(now)*time.Microsecond - last.At
	last.after = settle(r.state, slices.ContainsFunc(r.faults, blinds))
	last.after.resting = last.after.resting && !ended(r.state) && (r.state.Ended != "" || time.Duration(now-r.acted)*time.Microsecond >= round && last.pause >= round)
}

// ended reports whether the gears have ended. Recordings of earlier versions go on until then, so
// their last state is not that of the run.
func ended(s *trace.State) bool {
	for _, i := range s.Informers {
		if i.Phase != "stopped" {
			return false
		}
	}
	return len(s.Informers) > 0
}

// refuse finds the reasons that are about the whole recording.
func (r *reader) refuse(header trace.Header) {
	var failed error
	refuse := func(code, name, text string, args ...any) {
		r.Refused = cmp.Or(r.Refused, &Refusal{Code: code, Args: map[string]string{"name": name}, text: fmt.Sprintf(text, args...)})
	}
	if header.Mode == "cluster" {
		refuse("cluster", "", "the run was on a real cluster, which cannot be put back to an earlier state; fork a recording of lab demo --record")
	}
	if r.Scene, failed = scenes.Named(header.Scene); failed != nil {
		refuse("scene", header.Scene, "the recording is of no scene that this program has; fork a recording of lab demo --record")
	}
	if r.Scene = r.Scene.Guided(); r.Scene.Alone() {
		refuse("alone", header.Scene, "the scene %s plays without a server, so it has no inputs; fork the recording of another scene", header.Scene)
	}
	if len(header.Yours) > 0 {
		refuse("yours", strings.Join(header.Yours, ", "), "the run had gears of your own (%s), which this program does not have; record the scene again with lab demo --record", strings.Join(header.Yours, ", "))
	}
	if r.Gears, failed = gears.Parse(header.Gears); failed != nil {
		refuse("gears", header.Gears, "the run had the gears %q, which this program does not have; use the version that made the recording", header.Gears)
	}
	if r.other != "" {
		refuse("others", r.other, "%s wrote to the server during the run, and the recording does not have what it wrote; record the scene again without another client", r.other)
	}
	if r.middle {
		refuse("middle", "", "the recording begins in the middle of the run, without the first inputs; record it again with a larger --record-limit")
	}
	if len(r.Inputs) == 0 {
		refuse("none", header.Scene, "the recording has no input; record the scene with a server: lab demo --scene %s --view --record FILE", header.Scene)
	}
	for i := range r.Inputs {
		r.Inputs[i].Refused = cmp.Or(r.Refused, r.Inputs[i].Refused)
	}
}

// objects is the number of objects in the namespace, as the input that fills it says.
func (r *Recording) objects() (n int) {
	for _, input := range r.Inputs {
		if input.Name == "fill" {
			_, _ = fmt.Sscanf(input.Arguments, "--objects %d", &n)
		}
	}
	return n
}

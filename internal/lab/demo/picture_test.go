package demo

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/words"
)

// pictured are the states in testdata/pictures.
var pictured = map[string]func(s *State){
	"before": func(s *State) {
		s.Words.Happens.English = "A namespace is filled with objects of ten types and then deleted."
		s.Words.Look.English = "Watch the order: pods first, then everything else, and the namespace last of all."
		s.Words.Learnt = []words.Text{{English: "DELETE only marks a namespace: deletionTimestamp and phase " +
			"Terminating. It goes when spec.finalizers is empty."}, {English: "Pods go first."}}
		s.Words.Read = []Reading{
			{File: "nsctl/deleter.go", Text: words.Text{English: "one pass over a namespace, top to bottom"}},
			{File: "wait/until.go", Text: words.Text{English: "how workers come back after a panic"}},
		}
		for _, name := range []string{"pods", "configmaps", "secrets", "persistentvolumeclaims"} {
			s.Types = append(s.Types, Type{Name: name})
		}
		s.Namespace.Name = "shop"
	},
	"filled": func(s *State) {
		for i, n := range []int{25, 75, 44, 22} {
			s.Count(s.Types[i].Name, n)
		}
		s.Namespace.Phase = "Terminating"
		s.Elapsed = 3 * time.Second
		s.Tell(You, "kubectl delete namespace shop")
		s.Tell(Server, "it does not go yet: deletionTimestamp is set, the phase is Terminating, and "+
			"spec.finalizers holds it: kubernetes. Nothing new may be created in it")
		s.Enter("until the first look. In a cluster with several API servers some have not heard of the deletion "+
			"yet and still let objects in: the grace period is there for them.", 5*time.Second)
		s.Elapsed = 4200 * time.Millisecond
		s.Gears = Gears{Lists: 11, Events: 170, Deltas: 182, Objects: 166, Calls: 170, Adds: 2, Later: 1,
			Workers: 10, Passes: 2, Requests: 33}
	},
	// Something that is there is never drawn as nothing (configmaps), and something that is missing
	// never as everything.
	"emptied": func(s *State) {
		for i, n := range []int{20, 1, 0} {
			s.Count(s.Types[i].Name, n)
		}
		s.Namespace.Conditions = []string{"NamespaceContentRemaining", "NamespaceFinalizersRemaining"}
		s.Enter("pass 1: pods first, then everything else; when nothing is left, the namespace", 0)
		s.Gears.Later, s.Gears.Busy = 0, 1
		s.Line("slow handler waits", 120)
		s.Line("slow handler waits", 80)
		s.Line("spectator waits", 0)
	},
	"alone": func(s *State) {
		*s = State{Scene: "one-key", Alone: true, Words: s.Words}
		s.Show("dirty", "team-3")
		s.Show("queue", "")
		s.Show("delay of team-3", "███░░ 2.1 s")
		s.Figure("passes", "2")
		s.Figure("workers at once", "1 with team-3")
		s.Tell(Queue, "Add(team-3)")
		s.Enter("the end", 0)
	},
}

// Each picture is of the state after one more change. "page", "opening", "summary" and "closing"
// draw.
func TestPictures(t *testing.T) {
	state := State{Scene: "delete"}
	datadriven.RunTest(t, "testdata/pictures", func(t *testing.T, d *datadriven.TestData) string {
		width := number(t, d, "width")
		switch d.Cmd {
		case "opening":
			return text(Opening(state, width))
		case "summary":
			return text(Summary(state, width))
		case "closing":
			return text(Closing(state, width))
		}
		var change string
		d.ScanArgs(t, "of", &change)
		pictured[change](&state)
		return framed(Page(state, Size{Width: width, Height: number(t, d, "height")}), width)
	})
}

func number(t *testing.T, d *datadriven.TestData, name string) (n int) {
	d.ScanArgs(t, name, &n)
	return n
}

// framed draws a frame around a page, so that its size can be seen.
func framed(lines []string, width int) string {
	var b strings.Builder
	edge := "+" + strings.Repeat("-", width) + "+\n"
	b.WriteString(edge)
	for _, line := range lines {
		fmt.Fprintf(&b, "|%s%s|\n", line, strings.Repeat(" ", width-Columns(line)))
	}
	b.WriteString(edge)
	return b.String()
}

func text(lines []string) string { return "|" + strings.Join(lines, "\n|") + "\n" }

// A page always has the size of the terminal, and nothing in it moves the cursor.
func TestPagesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := anyState().Draw(t, "state")
		size := Size{Width: rapid.IntRange(1, 220).Draw(t, "width"),
			Height: rapid.IntRange(1, 70).Draw(t, "height")}
		lines := Page(state, size)
		assert.Len(t, lines, size.Height)
		for _, line := range lines {
			assert.LessOrEqual(t, Columns(line), size.Width)
			assert.Equal(t, -1, strings.IndexFunc(line, unicode.IsControl), "%q", line)
		}
	})
}

func anyState() *rapid.Generator[State] {
	return rapid.Custom(func(t *rapid.T) State {
		anyText := rapid.StringN(0, 200, 400)
		anyWords := func(label string) string { return strings.ToValidUTF8(anyText.Draw(t, label), "?") }
		s := State{Scene: "delete"}
		s.Words.Happens.English, s.Words.Look.English = "Something happens.", "Look at it."
		s.Alone = rapid.Bool().Draw(t, "alone")
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			s.Show("row"+strconv.Itoa(i), "%s", anyWords("row"))
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "types") {
			most := rapid.IntRange(0, 100_000).Draw(t, "most")
			s.Types = append(s.Types, Type{Name: "type" + strconv.Itoa(i), Most: most,
				Left: rapid.IntRange(0, most).Draw(t, "left")})
		}
		for range rapid.IntRange(0, 30).Draw(t, "beats") {
			s.Elapsed += time.Second
			who := rapid.SampledFrom([]Who{Demo, You, Server, Deleter})
			s.Tell(who.Draw(t, "who"), "%s", anyWords("beat"))
		}
		s.Namespace = NamespaceStory{Name: "shop",
			Phase: rapid.SampledFrom([]string{"", "Active", "Terminating", Gone}).Draw(t, "phase")}
		for range rapid.IntRange(0, 5).Draw(t, "conditions") {
			s.Namespace.Conditions = append(s.Namespace.Conditions, "NamespaceContentRemaining")
		}
		s.Gears.Workers = rapid.IntRange(0, 30).Draw(t, "workers")
		s.Gears.Busy = rapid.IntRange(0, 40).Draw(t, "busy")
		s.Enter(anyWords("now"), time.Duration(rapid.IntRange(0, 10).Draw(t, "long"))*time.Second)
		return s
	})
}

package fast_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

// TestScenarios runs the scripts in testdata/scenarios. Each begins with the incident that it
// reproduces and can be read without knowing Go. The commands are
//
//	known a@1 b@3    start with a consumer that holds these objects
//	add a@1          the watch reports a new object; also update, delete
//	list a@1 b@2     a list of all objects
//	resync           queue a Sync for each known object
//	take             the consumer takes the first key and processes it
//	done             the process function returns; the store and the handlers are updated
//	fail, putback    it returns an error, or an ErrRequeue
//	pop              take and done
//	close            close the queue
//
// The output is the events in order, and the final state.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		var s *scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "do" {
				d.Fatalf(t, "unknown directive %q", d.Cmd)
			}
			if s == nil {
				s = newScenario()
			}
			for line := range strings.Lines(d.Input) {
				words := strings.Fields(line)
				if words[0] == "known" {
					s = newScenario(objectsOf(t, words[1:])...)
					continue
				}
				s.play(t, words[0], objectsOf(t, words[1:]))
			}
			return s.report()
		})
		if s.inFlight() {
			s.finish(t, "done")
		}
	})
}

type scenario struct {
	queue    *fast.DeltaFIFO[*object]
	consumer *deltafifotest.Consumer
	reported int // lines of the journal already shown
	log      strings.Builder

	// verdict ends the process function; finished is closed when Pop has returned.
	verdict  chan string
	finished chan struct{}
}

func newScenario(known ...*object) *scenario {
	s := &scenario{consumer: deltafifotest.NewConsumer(known...)}
	s.queue = fast.New(deltafifo.Config[*object]{
		KeyFunc:      deltafifotest.KeyFunc,
		KnownObjects: s.consumer,
		Trace: &deltafifo.Trace[*object]{
			Ignored: func(_ string, d deltafifo.Delta[*object]) {
				fmt.Fprintf(&s.log, "ignored: %s\n", deltafifotest.Describe(d))
			},
			Canceled: func(_ string, d deltafifo.Delta[*object]) {
				fmt.Fprintf(&s.log, "canceled: %s\n", deltafifotest.Describe(d))
			},
		},
	})
	return s
}

func objectsOf(t *testing.T, words []string) []*object {
	objects := []*object{}
	for _, word := range words {
		name, version, _ := strings.Cut(word, "@")
		n, err := strconv.Atoi(version)
		if err != nil {
			t.Fatalf("%q is not an object like a@1: %v", word, err)
		}
		objects = append(objects, obj(name, n))
	}
	return objects
}

func (s *scenario) inFlight() bool { return s.verdict != nil }

func (s *scenario) play(t *testing.T, command string, objects []*object) {
	switch command {
	case "close":
		s.queue.Close()
	case "take":
		s.take()
	case "pop":
		s.take()
		if s.inFlight() {
			s.finish(t, "done")
		}
	case "done", "fail", "putback":
		s.finish(t, command)
	default:
		if err := produce(t, s.queue, command, objects); err != nil {
			fmt.Fprintf(&s.log, "%s: %v\n", command, err)
		}
	}
}

// produce makes a call of a producer.
func produce(t *testing.T, queue *fast.DeltaFIFO[*object], command string, objects []*object) error {
	switch command {
	case "add":
		return queue.Add(objects[0])
	case "update":
		return queue.Update(objects[0])
	case "delete":
		return queue.Delete(objects[0])
	case "list":
		return queue.Replace(objects, "1")
	case "resync":
		return queue.Resync()
	}
	t.Fatalf("unknown command %q", command)
	return nil
}

// take makes the consumer take the first key, which is in flight until finish ends it.
func (s *scenario) take() {
	taken := make(chan string)
	s.verdict, s.finished = make(chan string), make(chan struct{})
	go func() {
		defer close(s.finished)
		_, err := s.queue.Pop(func(key string, d deltas, initial bool) error {
			taken <- "handed out: " + deltafifotest.DescribeAll(d)
			switch <-s.verdict {
			case "fail":
				return errors.New("the consumer failed")
			case "putback":
				return &deltafifo.ErrRequeue{}
			}
			return s.consumer.Process(key, d, initial)
		})
		if errors.Is(err, deltafifo.ErrFIFOClosed) {
			taken <- err.Error()
		}
	}()
	text := <-taken
	fmt.Fprintln(&s.log, text)
	if text == deltafifo.ErrFIFOClosed.Error() {
		<-s.finished
		s.verdict = nil
	}
}

func (s *scenario) finish(t *testing.T, verdict string) {
	if !s.inFlight() {
		t.Fatalf("%s: nothing is in flight", verdict)
	}
	s.verdict <- verdict
	<-s.finished
	s.verdict = nil
	journal := s.consumer.Journal()
	for _, line := range journal[s.reported:] {
		fmt.Fprintf(&s.log, "handlers: %s\n", line)
	}
	s.reported = len(journal)
}

// report returns the events since the last report, and the present state.
func (s *scenario) report() string {
	snapshot := s.queue.Snapshot()
	for _, k := range snapshot.Waiting {
		fmt.Fprintf(&s.log, "waiting: %s %v\n", k.Key, k.Types)
	}
	if k := snapshot.InFlight; k != nil {
		fmt.Fprintf(&s.log, "in flight: %s %v\n", k.Key, k.Types)
	}
	store := strings.Join(s.consumer.Objects(), " ")
	if store == "" {
		store = "empty"
	}
	fmt.Fprintf(&s.log, "store: %s\n", store)
	if !snapshot.Synced {
		fmt.Fprintf(&s.log, "not synced\n")
	}
	defer s.log.Reset()
	return s.log.String()
}

package predict

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orrery/deltafifo"
	"orrery/informer"
)

// newInformer is the interpreter for informer/handle_deltas.go and informer/processor.go: an
// informer whose queue hands out what the script says.
func newInformer(ctx context.Context) commands {
	inf, queue := scripted[*object]()
	go inf.Run(ctx)

	blocked := map[string]chan struct{}{} // handlers whose callbacks do not return before it is closed
	var mu sync.Mutex                     // guards calls
	calls := map[string][]string{}
	add := func(name string, blocks bool) (string, error) {
		release := make(chan struct{})
		if blocks {
			blocked[name] = release
		} else {
			close(release)
		}
		called := func(form string, words ...any) {
			mu.Lock()
			calls[name] = append(calls[name], fmt.Sprintf(form, words...))
			mu.Unlock()
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		_, err := inf.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*object]{
			AddFunc:    func(o *object, _ bool) { called("OnAdd(%v)", o) },
			UpdateFunc: func(old, o *object) { called("OnUpdate(%v, %v)", old, o) },
			DeleteFunc: func(d informer.DeletedObject[*object]) { called("OnDelete(%v)", d.Object) },
		}, informer.HandlerOptions{Name: name})
		return "", err
	}
	// callsOf waits until the handler is idle, or in its first callback if that blocks.
	callsOf := func(name string) (made []string, err error) {
		err = await(ctx, func() bool {
			idle := slices.ContainsFunc(inf.Snapshot().Handlers, func(h informer.HandlerSnapshot) bool {
				return h.Handler == name && h.Pending == 0
			})
			mu.Lock()
			defer mu.Unlock()
			made = slices.Clone(calls[name])
			return idle || blocked[name] != nil && len(made) > 0
		})
		return made, err
	}
	return commands{
		"handler NAME":         func(args ...string) (string, error) { return add(args[0], false) },
		"blocked-handler NAME": func(args ...string) (string, error) { return add(args[0], true) },
		// the callbacks of a blocked handler return now
		"release NAME": func(args ...string) (string, error) {
			release := blocked[args[0]]
			if release == nil {
				return "", fmt.Errorf("%s is not blocked", args[0])
			}
			delete(blocked, args[0])
			close(release)
			return "", nil
		},
		// the queue hands out the deltas of one object, each as TYPE@VERSION
		"deltas KEY DELTAS...": func(args ...string) (string, error) {
			return "", queue.hand(ctx, args[0], parseDeltas(args[0], args[1:]))
		},
		// the queue hands out that many additions of new objects
		"additions NUMBER": func(args ...string) (string, error) {
			n, err := strconv.Atoi(args[0])
			for i := 0; err == nil && i < n; i++ {
				key := fmt.Sprint("new-", i)
				err = queue.hand(ctx, key, parseDeltas(key, []string{"Added@1"}))
			}
			return "", err
		},
		"calls NAME": func(args ...string) (string, error) {
			made, err := callsOf(args[0])
			return list(made, ", "), err
		},
		"callbacks NAME": func(args ...string) (string, error) {
			made, err := callsOf(args[0])
			return strconv.Itoa(len(made)), err
		},
		// calls so far do not count any more
		"forget-calls NAME": func(args ...string) (string, error) {
			_, err := callsOf(args[0])
			mu.Lock()
			defer mu.Unlock()
			delete(calls, args[0])
			return "", err
		},
		"stored": func(...string) (string, error) { return strconv.Itoa(inf.GetIndexer().Len()), nil },
	}
}

// parseDeltas parses deltas of one object.
func parseDeltas(key string, words []string) (deltas deltafifo.Deltas[*object]) {
	for _, word := range words {
		kind, version, _ := strings.Cut(word, "@")
		o := &object{name: key, version: version}
		if kind == "Tombstone" {
			deltas = append(deltas, deltafifo.Tombstone(key, o))
		} else {
			deltas = append(deltas, deltafifo.Delta[*object]{Type: deltafifo.DeltaType(kind), Object: o})
		}
	}
	return deltas
}

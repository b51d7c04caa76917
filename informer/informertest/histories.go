package informertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// runHistories runs a random history of an informer and its handlers. Each handler must have
// received a consistent history, and that of a remaining handler must end in the state of the
// server.
func runHistories(t *testing.T, impl Implementation) {
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(drawStep, 1, 60).Draw(rt, "script")
		cfg := InformerConfig{ResyncPeriod: rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(rt, "resync")}
		var err error
		synctest.Test(t, func(t *testing.T) { err = playHistory(t, impl, cfg, script) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// longRest is longer than the longest back-off.
const longRest = 2 * time.Minute

// step is one step of a history. what decides which fields are used.
type step struct {
	What  string
	Key   string
	Value string
	Index int // of the handler to remove
	Wait  bool
}

var drawStep = rapid.Custom(func(t *rapid.T) step {
	return step{
		What: rapid.SampledFrom([]string{
			"set", "set", "set", "delete", "lose", "cut", "relist", "gap", "join", "join", "remove", "second",
		}).Draw(t, "what"),
		Key:   rapid.SampledFrom([]string{"ns/a", "ns/b", "ns/c", "other/a", "d"}).Draw(t, "key"),
		Value: rapid.StringMatching("[0-9]").Draw(t, "value"),
		Index: rapid.IntRange(0, 5).Draw(t, "index"),
		Wait:  rapid.Bool().Draw(t, "wait"),
	}
})

// history runs a sequence of steps.
type history struct {
	bubble  *bubble
	present []*Recorder
	receipt []Registration
	removed []*Recorder
	resync  time.Duration
}

func playHistory(t *testing.T, impl Implementation, cfg InformerConfig, script []step) error {
	h := &history{bubble: newBubble(t, impl), resync: cfg.ResyncPeriod}
	h.bubble.make(cfg)
	if err := h.join(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.bubble.informer.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	for _, s := range script {
		if err := h.play(s); err != nil {
			return err
		}
		if s.Wait {
			synctest.Wait()
		}
	}
	// The last step may be a "lose", which no watch reports: wait until the informer is idle, and
	// list.
	time.Sleep(longRest)
	h.bubble.source.SendError(Expired("to find lost objects"))
	time.Sleep(longRest)
	synctest.Wait()
	return h.verify()
}

func (h *history) play(s step) error {
	source := h.bubble.source
	switch s.What {
	case "set":
		setObject(source, s.Key, s.Value)
	case "delete":
		source.Delete(s.Key)
	case "lose": // the watch skips it, so force a list
		source.Lose(s.Key)
		source.SendError(Expired("an object was lost"))
	case "cut":
		source.Cut(nil)
	case "relist":
		source.SendError(Expired("the position is too old"))
	case "gap":
		h.bubble.unseen(func() {
			setObject(source, s.Key, s.Value)
			source.Delete("ns/a")
		})
	case "second":
		time.Sleep(time.Second)
	case "join":
		return h.join()
	case "remove":
		return h.remove(s.Index)
	}
	return nil
}

func (h *history) join() error {
	r := &Recorder{}
	resync := h.resync
	if len(h.present)%2 == 0 {
		resync = -1
	}
	receipt, err := h.bubble.informer.AddEventHandler(r.Handle, resync)
	h.present, h.receipt = append(h.present, r), append(h.receipt, receipt)
	return err
}

func (h *history) remove(i int) error {
	if i >= len(h.present) {
		return nil
	}
	err := h.bubble.informer.RemoveEventHandler(h.receipt[i])
	h.removed = append(h.removed, h.present[i])
	h.present = append(h.present[:i:i], h.present[i+1:]...)
	h.receipt = append(h.receipt[:i:i], h.receipt[i+1:]...)
	return err
}

func (h *history) verify() error {
	want := content(h.bubble.source)
	if got := h.bubble.informer.Content(); !maps.Equal(got, want) {
		return fmt.Errorf("the store holds %v, the server %v", got, want)
	}
	if !h.bubble.informer.HasSynced() {
		return errors.New("the informer has not synced")
	}
	for i, r := range h.present {
		got, err := h.bubble.replay(r)
		if err != nil {
			return fmt.Errorf("handler %d: %w", i, err)
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("handler %d ends at %v, the server at %v", i, got, want)
		}
		if !h.receipt[i].HasSynced() {
			return fmt.Errorf("handler %d has not synced", i)
		}
	}
	for i, r := range h.removed {
		if _, err := h.bubble.replay(r); err != nil {
			return fmt.Errorf("removed handler %d: %w", i, err)
		}
	}
	return nil
}

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

// runHistories lets a random history happen to an informer and its handlers. Whatever happened, what each handler
// was told must make sense as a history, and for handlers that are still there it must lead to the state of the
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

// step is one thing that happens. Which fields matter depends on what.
type step struct {
	What  string
	Key   string
	Value string
	Index int // of the handler that is removed
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

// history is a script being played.
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
	// The script may end with a "lose" that no watch was there to hear of: let the informer come to rest, and list.
	time.Sleep(longRest)
	h.bubble.source.SendError(Expired("so that what was lost is found"))
	time.Sleep(longRest)
	synctest.Wait()
	return h.judge()
}

func (h *history) play(s step) error {
	source := h.bubble.source
	switch s.What {
	case "set":
		setObject(source, s.Key, s.Value)
	case "delete":
		source.Delete(s.Key)
	case "lose": // the watch skips it, so the informer has to be sent to a list
		source.Lose(s.Key)
		source.SendError(Expired("something was lost"))
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

func (h *history) judge() error {
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

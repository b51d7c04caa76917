package informertest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// runHistories runs random histories of an informer and its handlers. Each handler must have
// received a consistent history, and that of a remaining handler must end in the state of the
// server.
func runHistories(t *testing.T, impl Implementation) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := strings.Join(rapid.SliceOfN(drawStep, 1, 60).Draw(rt, "steps"), "; ")
		cfg := InformerConfig{ResyncPeriod: rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(rt, "resync")}
		var err error
		synctest.Test(t, func(t *testing.T) { err = playHistory(t, impl, cfg, steps) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// longRest is longer than the longest back-off.
const longRest = 2 * time.Minute

// drawStep returns a step of a player, or several; half of them end with "wait".
var drawStep = rapid.Custom(func(t *rapid.T) string {
	step := rapid.SampledFrom([]string{
		"set KEY VALUE", "set KEY VALUE", "set KEY VALUE", "delete KEY", "lose KEY", "cut", "expire",
		"disconnect; set KEY VALUE; delete ns/a; relist", "join never", "join default", "remove HANDLER", "after 1s",
	}).Draw(t, "step")
	step = strings.NewReplacer(
		"KEY", rapid.SampledFrom([]string{"ns/a", "ns/b", "ns/c", "other/a", "d"}).Draw(t, "key"),
		"VALUE", rapid.StringMatching("[0-9]").Draw(t, "value"),
		"HANDLER", rapid.StringMatching("[0-5]").Draw(t, "handler"),
	).Replace(step)
	if rapid.Bool().Draw(t, "wait") {
		step += "; wait"
	}
	return step
})

func playHistory(t *testing.T, impl Implementation, cfg InformerConfig, steps string) error {
	t.Cleanup(func() {
		if t.Failed() { // rapid reports only what playHistory returns
			t.Logf("the history: resync %v; %s", cfg.ResyncPeriod, steps)
		}
	})
	p := newPlayer(newBubble(t, impl), true)
	p.make(cfg)
	p.join("never")
	p.start()
	p.play(steps)
	// A "lose" while no watch is open is not noticed: wait until the informer is idle, and list.
	time.Sleep(longRest)
	p.play("expire")
	time.Sleep(longRest)
	synctest.Wait()
	return p.verify()
}

// verify returns the first violation at the end of a history.
func (p *player) verify() error {
	want := content(p.source)
	if got := p.informer.Content(); !maps.Equal(got, want) {
		return fmt.Errorf("the store holds %v, the server %v", got, want)
	}
	if !p.informer.HasSynced() {
		return errors.New("the informer has not synced")
	}
	for i, r := range p.recorders {
		got, err := p.replay(r)
		switch {
		case err != nil:
			return fmt.Errorf("handler %d: %w", i, err)
		case p.removed[i]:
		case !maps.Equal(got, want):
			return fmt.Errorf("handler %d ends at %v, the server at %v", i, got, want)
		case !p.registrations[i].HasSynced():
			return fmt.Errorf("handler %d has not synced", i)
		}
	}
	return nil
}

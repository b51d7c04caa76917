package indexer

import (
	"runtime"
	"sync/atomic"
)

// gate lets readers find out whether a write is under way, without giving
// them a way to hold the writer up.
//
// Invariant: the number is odd while a write is under way and even otherwise.
// Writers are one at a time (the Indexer's mutex sees to that).
type gate struct{ number atomic.Uint64 }

// enter begins a write.
func (g *gate) enter() { g.number.Add(1) }

// leave ends it. Everything that the write has stored happened before what a
// reader does after it has seen the new number.
func (g *gate) leave() { g.number.Add(1) }

// pass returns when the write that was under way at the call, if any, has
// ended. It does not wait for writes that begin later.
//
// A write takes less than a microsecond and never blocks, so yielding is
// enough; and if the writer's thread was taken away in the middle, yielding is
// what gives it back.
func (g *gate) pass() (number uint64) {
	number = g.number.Load()
	if number%2 == 0 {
		return number
	}
	for {
		runtime.Gosched()
		if now := g.number.Load(); now != number {
			return now
		}
	}
}

// unmoved reports whether no write has taken place since pass returned number.
func (g *gate) unmoved(number uint64) bool {
	return number%2 == 0 && g.number.Load() == number
}

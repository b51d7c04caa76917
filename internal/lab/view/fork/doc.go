// Package fork starts a new run from a recording of the laboratory.
//
// # Concept
//
// A recording holds inputs and their effects. An input is something done from outside: an action of
// the script, a fault, a step at a gate. [Read] finds the inputs. [Recording.Start] does them again
// on a new server in memory, up to one of them. Then the new run goes on live. One input may be
// left out.
//
//	recording ── Read ──▶ inputs ── Start ──▶ stage: server in memory, gears, gates ──▶ live
//
// After each input the fork waits until the pipeline is at rest: no gear is busy, and nothing
// changes for a round. If it is not as the recording was before its next input, the fork waits for
// as long as the recording did.
//
// # Guarantees
//
// Goroutines are scheduled anew, so events differ. The settled state does not: keys of the stores,
// keys of the queues, conditions, and what waits at the gates.
//
// A recording that cannot be forked is refused with the reason: see [Refusal].
//
// # Goroutines
//
// Start starts those of a stage, and one for the script's action. They end with its stop.
//
// # Failure
//
// Start returns the error of an input that fails, with its number. If the input that was left out
// is the reason, the error names both. Two inputs do not fail: the repair of a fault that was left
// out does nothing, and a step whose key does not come lets the oldest item through.
//
// # Testing
//
// The tests record every scene in virtual time, and compare a fork at its inputs with the
// recording.
package fork

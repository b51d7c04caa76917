package storebench

import (
	"sync"
	"sync/atomic"

	"orrery/internal/lab/bench"
)

// readers read in a loop until they are stopped.
type readers struct {
	stop    atomic.Bool
	running sync.WaitGroup
	reads   []int // by reader, set when it ends
	errs    []error
}

// reader does its i-th read and returns the number of reads.
type reader func(i int) (reads int, err error)

// start runs each reader in its own goroutine. Each reads at least once, however late it is
// scheduled.
func start(all []reader) *readers {
	r := &readers{reads: make([]int, len(all)), errs: make([]error, len(all))}
	for n, read := range all {
		r.running.Go(func() {
			total := 0
			for i := 0; (i == 0 || !r.stop.Load()) && r.errs[n] == nil; i++ {
				var reads int
				reads, r.errs[n] = read(i)
				total += reads
			}
			r.reads[n] = total
		})
	}
	return r
}

// end stops the readers and returns the total number of reads.
func (r *readers) end() (reads int, err error) {
	r.stop.Store(true)
	r.running.Wait()
	for i := range r.reads {
		reads += r.reads[i]
		if err == nil {
			err = r.errs[i]
		}
	}
	return reads, err
}

// readers returns n readers of a kind. Each checks what it reads.
func (c *content[T]) readers(n int, kind ReaderKind, store Store[T], keys *bench.Keys) []reader {
	all := make([]reader, n)
	for i := range all {
		switch kind {
		case ByIndex:
			all[i] = c.byIndexReader(store, i)
		case Get:
			all[i] = c.getReader(store, keys.Picker(i+1)) // the writer's is 0
		default:
			all[i] = func(int) (int, error) { return 1, complete(store.List(), len(c.pods)) }
		}
	}
	return all
}

// complete is bench.Prove without its cost on success.
func complete(got, want int) error {
	if got != want {
		return bench.Prove("objects that a reader was given", want, got)
	}
	return nil
}

// byIndexReader begins with a different namespace for each reader.
func (c *content[T]) byIndexReader(store Store[T], number int) reader {
	return func(i int) (int, error) {
		at := (number + i) % len(c.names)
		got, err := store.ByIndex(c.names[at])
		if err == nil {
			err = complete(got, c.inNamespace(at))
		}
		return 1, err
	}
}

// getReader reads in batches, so the check of the stop flag costs nothing.
func (c *content[T]) getReader(store Store[T], picker *bench.Picker) reader {
	const many = 64
	return func(int) (int, error) {
		for range many {
			at := picker.Next()
			obj, exists := store.Get(c.keys[at])
			if !exists || int(c.gear.Number(obj))%len(c.pods) != at {
				return 0, &bench.ProofError{What: "the object that a reader found under its key", Want: c.keys[at], Got: exists}
			}
		}
		return many, nil
	}
}

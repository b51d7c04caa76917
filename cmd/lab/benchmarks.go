package main

import (
	"orrery/internal/lab/bench/workloads"
)

// benchmark is a benchmark: its help texts and its workload.
type benchmark struct {
	name, short, long, examples string
	workload                    func() workload
}

// benchmarks lists the benchmarks in the order in which an event passes the gears.
var benchmarks = []benchmark{{
	name:  "queue",
	short: "The work queue: Add, Get, Done, between producers and workers",
	long: `Producers add keys to a work queue. Workers take them out, spend --handler-cost
on each and give them back. A key that is added while it waits is not queued
twice. A key that is added while a worker holds it comes back afterwards.

Shows keys processed per second, the cost of each, and the time from when a key
was due to be added until a worker was done with it.`,
	examples: `  # one key gets 90 % of all events: how much is merged?
  lab bench queue --distribution hot

  # does the queue get slower with more workers?
  lab bench queue --vary workers=1..64

  # one worker, 20 us a key: how does the 99th percentile grow with the load?
  lab bench queue --vary rate=5k..80k --workers 1 --handler-cost 20us`,
	workload: func() workload {
		return newWork("queue", "the queues to measure",
			workloads.QueueSubjects(), &workloads.QueueConfig{}, workloads.RunQueue)
	},
}, {
	name:  "dispatch",
	short: "From watch to handlers: three designs behind one interface",
	long: `A fake watch hands out events, and everything between it and the handlers is
real: the reflector, the DeltaFIFO, the store, and the part that brings one
event to many handlers. That part has several designs; docs/measure/bench.md
says when each is right.

Shows events per second, the cost of each, and the time from when an event was
due until it was delivered to a handler.`,
	examples: `  # all designs side by side, sixteen handlers
  lab bench dispatch --design all --handlers 16

  # handlers that take 5 us each: which design falls behind?
  lab bench dispatch --design all --handler-cost 5us --rate 150k`,
	workload: func() workload {
		return newWork("dispatch", "how events get from the store to the handlers",
			workloads.DispatchSubjects(), &workloads.DispatchConfig{}, workloads.RunDispatch)
	},
}, {
	name:  "fifo",
	short: "The DeltaFIFO: Add and Pop at the same time",
	long: `A producer adds events. A consumer pops all events of one object at a time, as
in an informer. The producer waits when the backlog reaches --backlog, because a
queue that only grows would measure memory.

Shows events per second, the cost of each, the number of pops, and the time from
when an event was due until it was popped.`,
	examples: `  # one object changes all the time: many events in one turn
  lab bench fifo --distribution hot --keys 10k

  # what does a deeper backlog cost?
  lab bench fifo --vary backlog=16..16384 --design all`,
	workload: func() workload {
		return newWork("fifo", "the queues to measure",
			workloads.FIFOs(), &workloads.FIFOConfig{}, workloads.Run[workloads.FIFOConfig])
	},
}, {
	name:  "store",
	short: "The indexer: writes while others read",
	long: `One goroutine writes objects into a store with an index by namespace, as an
informer does, while other goroutines read it in a loop: whole lists, lists of a
namespace, or single objects.

Shows writes and reads per second, their cost, and the time from when a write
was due until it was done.`,
	examples: `  # four readers list 100,000 objects again and again: does the writer keep up?
  lab bench store --design all

  # does a write cost more when there are more objects?
  lab bench store --vary objects=1k..1M --readers 0`,
	workload: func() workload {
		return newWork("store", "the stores to measure",
			workloads.Stores(), &workloads.StoreConfig{}, workloads.Run[workloads.StoreConfig])
	},
}, {
	name:  "sync",
	short: "The first sync: 100,000 pods over HTTP into the cache",
	long: `Starts an HTTP server with --objects pods in another process, and an informer
that lists them, as a controller does when it starts. The cost of the server is
not counted.

Shows the time until the cache and the handler have every pod, processor time,
peak resident memory, and the live heap afterwards. There is no latency, because
there is only one event: the list.`,
	examples: `  # is the memory proportional to the number of objects?
  lab bench sync --vary objects=1k..64k --design all`,
	workload: func() workload {
		return newWork("sync", "the gears to measure",
			workloads.SyncSubjects(), &workloads.SyncConfig{}, workloads.RunSync)
	},
}}

// Package stream carries the events of a watch to a client.
//
// # Concept
//
// A watch is an answer that does not end. Over plain HTTP it is a chunked body, one JSON document a line, each flushed when it has
// been written. Over a websocket it is one text message an event. [Open] looks at the request and answers in the way that it asks
// for; the [Stream] hides the difference.
//
// # Guarantees
//
// Frames arrive whole and in the order in which they are sent, or the connection breaks.
//
// # Goroutines
//
// A websocket needs somebody to read, even if there is nothing to be said: that goroutine belongs to the Stream, and has ended when
// [Stream.End], [Stream.Abort] or [Stream.Break] returns. Plain HTTP needs none.
//
// # Failure
//
// A client that does not read makes [Stream.Send] fail after [WriteTimeout]. Nothing is kept for it.
//
// # Testing
//
// Both transports over pipes, with readers that stop.
//
// Next: package registry
package stream

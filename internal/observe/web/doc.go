// Package view serves the page that shows what happens inside one client process, live or from a
// recording of package trace.
//
// # Concept
//
//	/            the page: plain modules, no build step, nothing from another host
//	/socket      the run as it goes on: lines of a recording, in batches
//	/trace       the same over plain HTTP, for programs
//	/recording   a recording, if the server shows one
//	/code        the function of each event, see [Code]
//
// The page draws the states of the lines, which it keeps in a worker: the server sends what a file
// has. [WriteHTML] puts page and recording into one file.
//
// # Guarantees
//
// The server listens on the loopback interface only and answers GET and HEAD alone. Everything but
// the page's own files needs the random token of its address. It refuses other names than loopback
// ones in the Host header, and other origins, see package hostcheck. The page may load nothing from
// elsewhere.
//
// A browser never slows the run: each reads the history at its own pace. One that falls behind the
// history goes on with a later state.
//
// # Goroutines
//
// [Start] starts one that accepts connections; each socket has a reader and a writer.
// [Server.Stop] ends them all and waits for them.
//
// # Failure
//
// Start returns an error if the port is taken and was asked for; otherwise it takes a free one.
// Later failures end a connection, never the run.
//
// # Testing
//
// The page is tested in Chromium, which reports every request that it makes. See page_test.go.
package view

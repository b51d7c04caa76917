package debugserver

import "io"

// Config says what is served and where. Address is required.
type Config struct {
	// Address is the host and port to listen on; port 0 is any that is free.
	Address string
	// Title is the first line of /: what runs here. Default: there is none.
	Title string
	// Metrics writes what /metrics shows, in Prometheus' text format; its error is that of the writer. Default: there is
	// no /metrics.
	Metrics func(io.Writer) error
	// Profiling adds /debug/pprof.
	Profiling bool
}

package debugserver

import (
	dto "github.com/prometheus/client_model/go"
)

// Config says what is served and where. Address is required.
type Config struct {
	// Address is the host and port to listen on; port 0 is any that is free.
	Address string
	// Metrics are what /metrics shows. Default: there is no /metrics.
	Metrics Gatherer
	// Profiling adds /debug/pprof.
	Profiling bool
}

// Gatherer reads all metrics. It is the library's interface of that name.
type Gatherer interface {
	Gather() ([]*dto.MetricFamily, error)
}

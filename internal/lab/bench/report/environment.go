package report

import "runtime"

// environment is where a benchmark has run. Figures from different environments must not be compared.
type environment struct {
	Go       string `json:"go"`
	Platform string `json:"platform"`
	CPUs     int    `json:"cpus"` // that Go uses at the same time
}

func here() environment {
	return environment{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, runtime.GOMAXPROCS(0)}
}

package driver_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The tests need no engine. This test binary, under the engine's name, answers as Docker's
// command line is documented to and records its calls.

func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case name == "docker" || name == "podman":
		os.Exit(engine(os.Args[1:]))
	case os.Getenv(hogKey) != "" && os.Getenv("ORRERY_SERVER") != "":
		hog()
	}
	os.Exit(m.Run())
}

// hogKey makes this test binary, when it is started as a server, use more and more memory.
const hogKey = "TEST_SERVER_HOG"

func hog() {
	var all [][]byte
	for range 64 {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		all = append(all, block)
	}
	time.Sleep(time.Hour)
	runtime.KeepAlive(all)
}

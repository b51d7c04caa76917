package syncbench

import (
	"os"
	"testing"
)

// The tests start this program again as the server, as any program that runs the benchmark does.
func TestMain(m *testing.M) {
	ServeIfAsked()
	os.Exit(m.Run())
}

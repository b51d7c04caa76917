package logs_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/leaderelection"
	"orrery/internal/observe/logs"
)

// A process that has lost its lease says that, and not that its watches fail and are going to be repeated: they are not.
func TestWhatIsCutOffWithTheLeaseIsNoTrouble(t *testing.T) {
	var out bytes.Buffer
	trace := logs.New(logs.Config{Writer: &out}).Reflector("namespaces")
	trace.BackOff(time.Second, fmt.Errorf("GET https://a/: %w", leaderelection.ErrFenced))
	assert.Empty(t, out.String())
	trace.BackOff(time.Second, errors.New("connection refused"))
	assert.Contains(t, out.String(), "list-watch failed")
}

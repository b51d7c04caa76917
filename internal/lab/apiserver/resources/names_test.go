package resources

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Names of the right characters have a limit; the recorded conversations have the other messages.
func TestLongNames(t *testing.T) {
	label := strings.Repeat("a", 63)
	assert.Empty(t, dnsLabel(label))
	assert.Equal(t, []string{"must be no more than 63 characters"}, dnsLabel(label+"a"))
	assert.Empty(t, dnsSubdomain(strings.Repeat(label+".", 3)+label[:61]))
	assert.Equal(t, []string{"must be no more than 253 characters"}, dnsSubdomain(strings.Repeat(label+".", 3)+label))
	assert.Equal(t, []string{"must be no more than 63 bytes"}, labelValue(label+"a"))
	assert.Equal(t, []string{"name part must be no more than 63 bytes"}, qualifiedName("example.com/"+label+"a"))
	assert.Equal(t, []string{"may not be '..'"}, pathSegment(".."))
}

package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server's texts end up in logs, Events and conditions, where a long one displaces the others.
func TestTheTextsOfAStatusAreCut(t *testing.T) {
	long := strings.Repeat("é", 1<<14)
	status := Status{
		Message: long, Reason: StatusReason(long), Status: long,
		Details: &StatusDetails{Name: long, Group: long, Kind: long, UID: long},
	}
	for range 40 {
		status.Details.Causes = append(status.Details.Causes, StatusCause{Type: CauseType(long), Message: long,
			Field: long})
	}
	status.Details.Causes[0].Type = CauseNamespaceTerminating
	body, err := json.Marshal(status)
	require.NoError(t, err)
	var decoded Status
	require.NoError(t, json.Unmarshal(body, &decoded))
	d := decoded.Details
	for _, text := range []string{
		decoded.Message, string(decoded.Reason), decoded.Status, d.Name, d.Group, d.Kind, d.UID,
		string(d.Causes[1].Type), d.Causes[1].Message, d.Causes[1].Field,
	} {
		assert.LessOrEqual(t, len(text), MaxText+len(CutMark), "a text of a Status is cut")
		assert.True(t, strings.HasPrefix(long, strings.TrimSuffix(text, CutMark)), "what is left is its beginning")
	}
	assert.Len(t, d.Causes, maxCauses)
	assert.True(t, IsNamespaceTerminating(NewStatusError(decoded)), "the first causes are kept")
	assert.Equal(t, strings.Repeat("x", MaxText), CutText(strings.Repeat("x", MaxText)),
		"a text of just the length is kept")
}

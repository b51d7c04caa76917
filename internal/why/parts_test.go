package why_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what may be the owner, or another part of it, or what was not read of it.

func TestThePageIsThatOfTheCatalogue(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate/stuck-namespaces.md")
	require.NoError(t, err)
	assert.Equal(t, why.Page(), string(page), "run: go generate ./internal/why")
}

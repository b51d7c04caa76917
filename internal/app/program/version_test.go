package program

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// For a program built by "go install", the linker sets no version. The module has one.
func TestBuiltVersion(t *testing.T) {
	module := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	assert.Equal(t, "v1.2.3", builtVersion("v1.2.3", module("v9.9.9")), "the linker's version wins")
	assert.Equal(t, "v1.2.3", builtVersion("unknown", module("v1.2.3")))
	assert.Equal(t, "unknown", builtVersion("unknown", module("(devel)")))
	assert.Equal(t, "unknown", builtVersion("unknown", module("")))
}

func TestVersionSaysWhatItWasBuiltFrom(t *testing.T) {
	info := newVersionInfo(&debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
		{Key: "vcs.modified", Value: "true"},
	}})
	assert.Equal(t, "0123456789abcdef0123", info.Commit)
	assert.Equal(t, "2026-01-02T03:04:05Z", info.Date)
	assert.True(t, info.Modified)
	assert.Contains(t, info.String(), "(commit 0123456789ab with changes, go")
	assert.NotContains(t, newVersionInfo(&debug.BuildInfo{}).String(), "commit")
}

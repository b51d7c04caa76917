package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/controllers"
	"orrery/internal/controllers/all"
)

func TestControllersFlag(t *testing.T) {
	code, _, stderr := orrery(t, "run", "--controllers", "*,-namespace")
	assert.Equal(t, 1, code)
	assert.Contains(t, lastLine(stderr), "no controller is left to run")
	for _, command := range []string{"run", "rbac"} {
		code, _, stderr = orrery(t, command, "--controllers", "nonsense")
		assert.NotZero(t, code)
		for _, d := range all.Descriptors(all.Options{}) {
			assert.Contains(t, stderr, d.Name, "the message lists the controllers")
		}
	}
	usage := controllersUsage("x")
	for _, d := range all.Descriptors(all.Options{}) {
		assert.Contains(t, usage, d.Name)
	}
	assert.Contains(t, controllerCompletions(), "-namespace-controller\twithout it")
}

// A controller without dry-run support is refused in a dry run.
func TestADryRunNeedsASupportingController(t *testing.T) {
	options := &runOptions{controllers: []string{"*"}, dryRun: true}
	require.NoError(t, options.choose())
	assert.True(t, options.chose(all.NamespaceController))
	assert.False(t, options.chose("another"))
	for _, d := range all.Descriptors(all.Options{}) {
		options = &runOptions{controllers: []string{d.Name}, dryRun: true}
		if d.DryRun {
			assert.NoError(t, options.choose())
		} else {
			assert.ErrorContains(t, options.choose(), "--dry-run: "+d.Name)
		}
	}
}

// The controllers that are on by default do what a namespace controller does.
func TestOnlyTheNamespaceControllerIsOnByDefault(t *testing.T) {
	chosen, err := controllers.Choose(all.Descriptors(all.Options{}), everyController)
	require.NoError(t, err)
	require.Len(t, chosen, 1)
	assert.Equal(t, all.NamespaceController, chosen[0].Name)
}

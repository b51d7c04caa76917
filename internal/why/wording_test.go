package why

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What was not read may have more objects.
func TestWhatIsLeft(t *testing.T) {
	assert.Equal(t, "0 objects left", Checked{Types: 1}.left())
	assert.Equal(t, "unknown; 0 types read; no object seen; 1 request, 0.0 s", Checked{Requests: 1}.line(Unknown))
	assert.Equal(t, "no object seen", Checked{Unread: []string{"pods"}}.left())
	assert.Equal(t, "at least 1 object left", Checked{Unread: []string{"pods"}, Objects: 1}.left())
}

// A reason with commas stays whole; the beginning of a text distinguishes it from the others.
func TestTextsOfContentFailure(t *testing.T) {
	const denial = `admission webhook "a.example.com" denied the request: first ask bob, then alice, please`
	const policy = `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: keep it, it is needed`
	const call = `Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://w.x.svc:443/": dial tcp 10.0.0.1:443, i/o timeout`
	content := "Failed to delete all resource types, 3 remaining: " + call + ", " + denial + ", " + policy
	assert.Equal(t, []string{call, denial, policy}, texts(content))

	const storage = `storage is (re)initializing: failed to list things: conversion webhook for g.io/v1, Kind=Thing failed: Post: refused`
	assert.Equal(t, []string{policy, storage},
		texts("Failed to delete all resource types, 2 remaining: "+policy+", "+storage))
	for _, reason := range matchedOnce(webhookDenied(), content) {
		assert.Equal(t, "first ask bob, then alice, please", reason)
	}
	var called []string
	for name := range matchedOnce(failedCalling(), content+", "+call) {
		called = append(called, name)
	}
	assert.Equal(t, []string{"w"}, called, "a webhook that several types name is one")
	assert.Equal(t, []string{""}, texts(""))
}

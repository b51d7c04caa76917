package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests what shows that the server of a webhook cannot be called.

// The error of a call shows that a conversion webhook is down, in the answer to a list and in the
// condition of a namespace without such objects.
func TestAConversionWebhookThatIsNotReached(t *testing.T) {
	const refused = `conversion webhook for g.io/v1, Kind=Thing failed: Post "https://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`
	const untrusted = `storage is (re)initializing: failed to list g.io/v2, Kind=Thing: conversion webhook for g.io/v1, Kind=Thing failed: Post: x509: unknown authority`
	atURL := func(d *why.Definition) { d.Converter, d.ConverterURL = nil, "https://127.0.0.1:1/" }
	asService := func(*why.Definition) {}
	for name, test := range map[string]struct {
		text  string
		where func(*why.Definition)
		do    string
	}{
		"a URL":                         {refused, atURL, "bring the server at https://127.0.0.1:1/ back, or correct the URL in CustomResourceDefinition things.g.io"},
		"a Service":                     {refused, asService, "find out why the API server does not reach the pods of Service a/b"},
		"a certificate":                 {untrusted, asService, "repair the certificate of Service a/b, or the caBundle of CustomResourceDefinition things.g.io"},
		"a URL and a wrong certificate": {untrusted, atURL, "repair the certificate of the server at https://127.0.0.1:1/, or the caBundle of"},
	} {
		t.Run(name, func(t *testing.T) {
			e := situations()["C09"].proven
			e.Backends = []why.Backend{{Service: why.Service{Namespace: "a", Name: "b"}, Request: "GET service", Exists: true, Ready: 1}}
			e.Definitions.Items[0].Kind = "Thing"
			test.where(&e.Definitions.Items[0])
			judged := func(by string) *why.Finding {
				found := find(why.Judge(e), "C09")
				require.NotNil(t, found, by)
				assert.Equal(t, why.Proven, found.Certainty, found.Missing)
				assert.Contains(t, found.Do[0], test.do, by)
				assert.True(t, slices.ContainsFunc(found.Remedies, func(r why.Remedy) bool { return strings.Contains(r.Command, `"strategy":"None"`) }), by)
				return found
			}
			e.Types[0].Failed = &why.Failure{Request: "GET things", Code: 500, Message: test.text}
			judged("the list")

			e.Types[0].Failed = nil
			e.Namespace = terminating(contentFailure, "Failed to delete all resource types, 1 remaining: "+test.text)
			again := *e.Namespace
			e.Second.Namespace = &again
			judged("the condition")

			e.Types[0].Count = 1
			found := find(why.Judge(e), "C09")
			require.NotNil(t, found)
			assert.Contains(t, found.Missing, "the list of things.g.io works now")

			e.Namespace, e.Second.Namespace, e.Types[0].Count = terminating("", ""), terminating("", ""), 0
			e.Elsewhere = answered("GET namespaces", why.ConditionsWrite{Namespace: "other", At: deleted.Add(-time.Minute), Failure: test.text})
			found = find(why.Judge(e), "C09")
			require.NotNil(t, found, "the condition of another namespace")
			assert.Equal(t, []string{"shop itself has no condition yet"}, found.Missing)
			assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty)
			assert.True(t, e.BlamesConversion(), "the CustomResourceDefinition is read")
		})
	}
}

// A list may fail for another reason than the conversion.
func TestAListThatFailsWithoutAWordOfConversion(t *testing.T) {
	e := situations()["C09"].proven
	e.Types[0].Failed = &why.Failure{Request: "GET things", Code: 429, Message: "storage is (re)initializing: failed to list g.io/v1, Kind=Thing: etcd: connection refused"}
	require.NotNil(t, find(why.Judge(e), "C09"), "its webhook has no server")
	e.Backends = []why.Backend{{Service: why.Service{Namespace: "a", Name: "b"}, Request: "GET service", Exists: true, Ready: 1}}
	assert.Nil(t, find(why.Judge(e), "C09"))
	e.Definitions.Items[0].Converter = nil
	assert.Nil(t, find(why.Judge(e), "C09"))
	e.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionTrue, Message: e.Types[0].Failed.Message}}
	e.Second = nil
	assert.Nil(t, find(why.Judge(e), "C09"))
}

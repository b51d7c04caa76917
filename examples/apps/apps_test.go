package apps_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/apps"
	"orrery/restclient/api"
)

func TestSelectors(t *testing.T) {
	labels := map[string]string{"app": "web", "tier": "front"}
	for text, want := range map[string]bool{
		`{}`:                                   false,
		`{"matchLabels":{"app":"web"}}`:        true,
		`{"matchLabels":{"app":"api"}}`:        false,
		`{"matchLabels":{"app":"web","x":""}}`: false,
		`{"matchExpressions":[{"key":"app","operator":"In","values":["api","web"]}]}`:                 true,
		`{"matchExpressions":[{"key":"x","operator":"In","values":["web"]}]}`:                         false,
		`{"matchExpressions":[{"key":"app","operator":"NotIn","values":["web"]}]}`:                    false,
		`{"matchExpressions":[{"key":"x","operator":"NotIn","values":["web"]}]}`:                      true,
		`{"matchExpressions":[{"key":"tier","operator":"Exists"}]}`:                                   true,
		`{"matchExpressions":[{"key":"x","operator":"DoesNotExist"}]}`:                                true,
		`{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"tier","operator":"DoesNotExist"}]}`: false,
		`{"matchExpressions":[{"key":"tier","operator":"Like","values":["front"]}]}`:                  false,
	} {
		var selector apps.LabelSelector
		require.NoError(t, json.Unmarshal([]byte(text), &selector))
		assert.Equal(t, want, selector.Matches(labels), text)
	}
}

func TestBoundsOfARollout(t *testing.T) {
	for _, c := range []struct {
		strategy                     string
		replicas, surge, unavailable int
	}{
		{`{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}`, 10, 3, 2},
		{`{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}`, 1, 1, 0},
		{`{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}}`, 0, 0, 0},
		{`{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":"1%"}}`, 3, 0, 1},
		{`{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":5}}`, 3, 2, 3},
		{`{"type":"Recreate"}`, 3, 0, 0},
	} {
		d := apps.Deployment{Spec: apps.DeploymentSpec{Replicas: c.replicas}}
		require.NoError(t, json.Unmarshal([]byte(c.strategy), &d.Spec.Strategy))
		assert.Equal(t, c.surge, d.MaxSurge(), c.strategy)
		assert.Equal(t, c.unavailable, d.MaxUnavailable(), c.strategy)
	}
	var n apps.NumberOrPercent
	for _, wrong := range []string{`"25"`, `"x%"`, `true`} {
		assert.Error(t, json.Unmarshal([]byte(wrong), &n), wrong)
	}
}

func TestTemplates(t *testing.T) {
	read := func(text string) *apps.PodTemplate {
		var template apps.PodTemplate
		require.NoError(t, json.Unmarshal([]byte(text), &template))
		return &template
	}
	one := read(`{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}],"hostNetwork":true}}`)
	ordered := read(`{"metadata":{"labels":{"app":"web","pod-template-hash":"x"}},"spec":{"hostNetwork":true,"containers":[{"image":"i","name":"c"}]}}`)
	two := read(`{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i:2"}],"hostNetwork":true}}`)
	annotated := read(`{"metadata":{"labels":{"app":"web"},"annotations":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"hostNetwork":true}}`)
	assert.True(t, one.Equal(ordered))
	assert.False(t, one.Equal(two))
	assert.False(t, one.Equal(annotated))
	assert.Equal(t, one.Hash(), ordered.Hash())
	assert.NotEqual(t, one.Hash(), two.Hash())
	assert.Regexp(t, "^[bcdfghjklmnpqrstvwxz2456789]+$", one.Hash())
	assert.Equal(t, map[string]string{"app": "web", "pod-template-hash": "y"},
		apps.WithTemplateHash(ordered.Labels, "y"))
	assert.Equal(t, "x", ordered.Labels["pod-template-hash"], "the object of the store is not changed")
}

// All fields of the spec are written back, including those the type does not have.
func TestAPodIsMadeOfTheWholeTemplate(t *testing.T) {
	var set apps.ReplicaSet
	require.NoError(t,
		json.Unmarshal([]byte(`{"metadata":{"name":"web","namespace":"default","uid":"u"},"spec":{"template":{
		"metadata":{"labels":{"app":"web"},"annotations":{"a":"b"},"finalizers":["f"]},
		"spec":{"containers":[{"name":"c","image":"i"}],"dnsPolicy":"None"}}}}`), &set))
	text, err := json.Marshal(set.Spec.Template.PodFor(set.Owner()))
	require.NoError(t, err)
	assert.JSONEq(t,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"web-","namespace":"default","labels":{"app":"web"},
		"annotations":{"a":"b"},"finalizers":["f"],"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u",
		"controller":true,"blockOwnerDeletion":true}]},
		"spec":{"containers":[{"name":"c","image":"i"}],"dnsPolicy":"None"},"status":{}}`, string(text))
}

func TestConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := apps.NewCondition("A", api.ConditionTrue, "One", "first")
		conditions := apps.WithCondition([]apps.Condition{{Type: "B"}}, first)
		time.Sleep(time.Minute)
		again := apps.NewCondition("A", api.ConditionTrue, "One", "second")
		assert.Equal(t, conditions, apps.WithCondition(conditions, again), "nothing new")

		renewed := apps.FindCondition(apps.WithRenewedCondition(conditions, again), "A")
		assert.Equal(t, again.LastUpdateTime, renewed.LastUpdateTime)
		assert.Equal(t, first.LastTransitionTime, renewed.LastTransitionTime)
		other := apps.FindCondition(apps.WithCondition(conditions,
			apps.NewCondition("A", api.ConditionFalse, "One", "third")), "A")
		assert.Equal(t, again.LastTransitionTime, other.LastTransitionTime)
		assert.Equal(t, "first", apps.FindCondition(conditions, "A").Message, "the argument is not modified")
		assert.Equal(t, []apps.Condition{{Type: "B"}}, apps.WithoutCondition(conditions, "A"))
		assert.Nil(t, apps.FindCondition(conditions, "C"))
	})
}

package nsctl_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient/api"
)

func TestSelection(t *testing.T) {
	for patterns, names := range map[string]struct{ selected, others string }{
		"":                {"a default kube-system", ""},
		"team-*":          {"team-a team-a-b", "team other-team-a default"},
		"team-*,-team-x":  {"team-a team-xy", "team-x default"},
		"-team-x,team-*":  {"team-a", "team-x default"}, // the order does not matter
		"-kube-*,-shop":   {"default team-a", "kube-system shop"},
		"pr-????,staging": {"pr-0815 staging", "pr-815 pr-08155 staging-2"},
		"*,-*-keep":       {"a keep", "a-keep"},
	} {
		t.Run(patterns, func(t *testing.T) {
			var list []string
			if patterns != "" {
				list = strings.Split(patterns, ",")
			}
			selection, err := nsctl.ParseSelection(list)
			require.NoError(t, err)
			for name := range strings.FieldsSeq(names.selected) {
				assert.True(t, selection.Selects(name), name)
			}
			for name := range strings.FieldsSeq(names.others) {
				assert.False(t, selection.Selects(name), name)
			}
			assert.Equal(t, patterns == "", selection.All())
		})
	}
}

func TestPatternsThatMatchNothingAreRefused(t *testing.T) {
	for _, pattern := range []string{"", "-", "--a", "Team", "team-", "a/b", "a.b", "[ab]", "a b", `a\*`} {
		_, err := nsctl.ParseSelection([]string{"fine", pattern})
		assert.ErrorContains(t, err, "matches no namespace", pattern)
	}
	for patterns, undone := range map[string]string{
		"a*,-a*": "a*", "a,b,-b": "b", "team-*,-*": "team-*", "-*": "*", "a-b*,-a*": "a-b*", "a?,-a*": "a?",
		"a*,-a?*": "", "a*,-a-*": "", "a?,-ab": "", "a*,-a?": "", "-a*": "",
	} {
		_, err := nsctl.ParseSelection(strings.Split(patterns, ","))
		if undone == "" {
			assert.NoError(t, err, patterns)
			continue
		}
		assert.ErrorContains(t, err, "excludes all that \""+undone+"\" includes", patterns)
	}
	selection, err := nsctl.ParseSelection([]string{"-team-x", "team-*", "?"})
	require.NoError(t, err)
	assert.Equal(t, "team-*,?,-team-x", selection.String())
	assert.Equal(t, "*", nsctl.Selection{}.String())
}

// Namespaces that are not selected stay unchanged, whenever they were deleted; no request or
// report concerns them, and only their number is known.
func TestNamespacesThatAreNotSelectedAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		for _, name := range []string{"team-a", "team-x", "other"} {
			c.AddNamespace(name, true, "kubernetes")
			c.Put("configmaps.", name, "content")
		}
		c.AddNamespace("late", false, "kubernetes")
		var said, asked names
		c.Refuse(func(r *http.Request) *api.Status {
			asked.add(r.URL.Path)
			return nil
		})
		selection, err := nsctl.ParseSelection([]string{"team-*", "-team-x"})
		require.NoError(t, err)
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Selection, config.ResyncPeriod = selection, time.Minute
			config.Trace = &nsctl.Trace{
				Enqueued:    func(namespace *api.Namespace, _ time.Duration) { said.add(namespace.Name) },
				PassStarted: said.add,
				Gone:        func(name string, _ time.Duration) { said.add(name) },
			}
		})
		time.Sleep(time.Second)
		assert.Len(t, r.InDeletion(), 1)
		c.Terminate("late")
		time.Sleep(5 * time.Minute)
		assert.Nil(t, c.Namespace("team-a"))
		for _, name := range []string{"team-x", "other"} {
			assert.NotEmpty(t, c.Left(name), name)
		}
		assert.NotNil(t, c.Namespace("late"))
		snapshot := r.Snapshot()
		assert.Zero(t, snapshot.Deleting)
		assert.Equal(t, 3, snapshot.PassedOver)
		assert.Equal(t, "team-*,-team-x", snapshot.Selection.String())
		assert.Empty(t, snapshot.Queue.Delayed)
		assert.Empty(t, r.InDeletion())
		r.Stop()
		for _, name := range said.all() {
			assert.Equal(t, "team-a", name)
		}
		assert.NotEmpty(t, said.all())
		for _, path := range asked.all() {
			for _, name := range []string{"team-x", "other", "late"} {
				assert.NotContains(t, path, "/"+name)
			}
		}
	})
}

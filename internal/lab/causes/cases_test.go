package causes_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Every terminating namespace has the report that it has alone, and each type is listed once for
// all.
func TestAllNamespaces(t *testing.T) {
	inWorld(t, causes.Fixture{}, causes.Several, causes.Settled, func(t *testing.T, c *clustertest.Cluster) {
		_, alone := judged(t, c, collect.Options{})
		all, err := collect.CollectAll(t.Context(), c.Admin(), collect.Options{})
		require.NoError(t, err)
		for _, e := range all { // what was read once is in the evidence of each
			assert.Equal(t, []any{all[0].APIServices, all[0].Managers, all[0].Leases},
				[]any{e.APIServices, e.Managers, e.Leases}, e.Name)
		}
		reports := why.JudgeAll(all)
		require.Len(t, reports.Reports, 11)
		assert.Equal(t, why.ExitUnknown, reports.ExitCode)
		for _, r := range reports.Reports {
			if r.Namespace == causes.Namespace {
				assert.Equal(t, alone.Verdict, r.Verdict, text(t, r))
				assert.Equal(t, find(alone, "C04").Certainty, find(r, "C04").Certainty)
				assert.Equal(t, find(alone, "C04").Remedies, find(r, "C04").Remedies)
				continue
			}
			assert.Equal(t, 1, r.Checked.Objects, r.Namespace)
			assert.Nil(t, find(r, "C30"), text(t, r))
		}
		// of each other namespace: it, what holds its object, and both again
		assert.LessOrEqual(t, reports.Reports[0].Checked.Requests, alone.Checked.Requests+1+4*10,
			"each type is listed once for all")
		var out strings.Builder
		require.NoError(t, reports.WriteText(&out))
		assert.Contains(t, out.String(), "NAMESPACE")
		assert.Len(t, regexp.MustCompile(`(?m)^\S`).FindAllString(out.String(), -1), 12, out.String())
	})
}

// A type that can be listed in one namespace and not in another fails in a list of both: it is
// unread only where it cannot be listed.
func TestATypeThatOneNamespaceBreaks(t *testing.T) {
	f, _ := causes.Find("C23")
	both := func(w *causes.World) {
		f.SetUp(w)
		causes.Waiting("other")(w)
	}
	inWorld(t, f, both, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		all, err := collect.CollectAll(t.Context(), c.Admin(), collect.Options{})
		require.NoError(t, err)
		reports := why.JudgeAll(all).Reports
		require.Len(t, reports, 2)
		assert.Equal(t, "other", reports[0].Namespace)
		assert.Empty(t, reports[0].Checked.Unread)
		assert.Nil(t, find(reports[0], "C23"), text(t, reports[0]))
		assert.Equal(t, []string{"secrets"}, reports[1].Checked.Unread)
		mustFind(t, reports[1], "C23", why.Proven)
	})
}

// exclusion matches the commands that change the exclusions of a webhook.
var exclusion = regexp.MustCompile(`^kubectl get validatingwebhookconfigurations policy -o json \| jq '\(\.webhooks\[\] \| ` +
	`select\(\.name == "deny\.policy\.io"\) \| \.namespaceSelector\.matchExpressions\) ([+-])= (\[.*\])' \| kubectl replace -f -$`)

// changed does what jq does in such a command: it appends entries to a list, or removes all that
// are equal to one of them.
func changed(t *testing.T, command string, list []any) []any {
	t.Helper()
	match := exclusion.FindStringSubmatch(command)
	require.NotNil(t, match, command)
	var entries []any
	require.NoError(t, json.Unmarshal([]byte(match[2]), &entries))
	if match[1] == "+" {
		return append(list, entries...)
	}
	return slices.DeleteFunc(list, func(has any) bool {
		return slices.ContainsFunc(entries, func(entry any) bool { return reflect.DeepEqual(has, entry) })
	})
}

// The commands that --fix prints for a webhook exclude the namespace, which goes, and then restore
// the configuration as it was. Exclusions of other namespaces that came in between stay.
func TestAnExclusionIsUndone(t *testing.T) {
	f, _ := causes.Find("C07")
	inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		_, report := judged(t, c, collect.Options{Interval: time.Second})
		remedies := slices.DeleteFunc(find(report, "C07").Remedies,
			func(r why.Remedy) bool { return !strings.Contains(r.Command, " | jq ") })
		require.Len(t, remedies, 2, text(t, report))
		assert.Empty(t, remedies[0].When)
		assert.Equal(t, "when the namespace is gone", remedies[1].When)
		configurations := restclient.Dynamic(c.Admin(), api.GroupVersionResource{
			Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations",
		}, "")
		change := func(by func(list []any) []any) (before, after []any) {
			configuration, err := configurations.Get(t.Context(), "policy", api.GetOptions{})
			require.NoError(t, err)
			selector := configuration.Nested("webhooks").([]any)[0].(map[string]any)["namespaceSelector"].(map[string]any)
			before = slices.Clone(selector["matchExpressions"].([]any))
			after = by(slices.Clone(before))
			selector["matchExpressions"] = after
			_, err = configurations.Update(t.Context(), configuration, api.UpdateOptions{})
			require.NoError(t, err)
			return before, after
		}
		before, _ := change(func(list []any) []any { return changed(t, remedies[0].Command, list) })
		time.Sleep(2 * causes.Settled)
		_, err := c.Request(http.MethodGet, "/api/v1/namespaces/shop", "")
		require.True(t, api.IsNotFound(err), "%v", err)
		other := strings.ReplaceAll(remedies[0].Command, `"shop"`, `"other"`)
		change(func(list []any) []any { return append(changed(t, other, nil), list...) })
		_, after := change(func(list []any) []any { return changed(t, remedies[1].Command, list) })
		assert.Equal(t, append(changed(t, other, nil), before...), after)
	})
}

// lists are the lists that a verdict may need.
var lists = []string{
	"apiservices", "customresourcedefinitions", "pods", "leases", "nodes", "services", "endpointslices",
	"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "deployments", "statefulsets", "daemonsets",
	"clusterroles",
	"roles", "clusterrolebindings", "rolebindings", "configmaps", "secrets",
}

// A right less may make a cause possible instead of proven. It never names another one, or another
// culprit.
func TestForbidden(t *testing.T) {
	inEach(t, nil, func(t *testing.T, f causes.Fixture, c *clustertest.Cluster) {
		evidence, _ := judged(t, c, collect.Options{Interval: time.Second})
		read, err := json.Marshal(evidence)
		require.NoError(t, err)
		for _, resource := range lists {
			if !strings.Contains(string(read), "/"+resource+"?") {
				continue // this examination does not need it
			}
			heal := c.Fault("forbid:verb=list,resource=" + resource + ",user=kubernetes-admin")
			_, report := judged(t, c, collect.Options{Interval: time.Second})
			heal()
			for _, found := range report.Findings {
				if found.Certainty != why.Proven || found.ID == "C30" || slices.Contains(f.Also, found.ID) {
					continue
				}
				assert.Equal(t, f.ID, found.ID, "without the right to list %s\n%s", resource, text(t, report))
				assert.Equal(t, f.Culprit, found.Culprit, resource)
			}
		}
	})
}

// What an examination costs: requests and virtual time.
func TestBudget(t *testing.T) {
	objects := 10_000
	if testing.Short() {
		objects = 1000
	}
	many := func(w *causes.World) { causes.Many(w, objects) }
	types := func(w *causes.World) { causes.Types(w, 30) }
	silentList := "delay:by=1h,verb=list,resource=type0s,user=kubernetes-admin"
	for name, test := range map[string]struct {
		setUp    func(*causes.World)
		fault    string
		requests int
		took     time.Duration
	}{
		"an empty namespace": {causes.Empty, "", 45, time.Second},
		"60 types":           {types, "", 75, 3 * time.Second},
		"many objects of one type with an own finalizer": {many, "", 85, 3 * time.Second},
		"an API that never answers":                      {types, silentList, 76, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, causes.Fixture{NoController: true}, test.setUp, time.Second,
				func(t *testing.T, c *clustertest.Cluster) {
					c.Fault("delay:by=20ms,user=kubernetes-admin")
					if test.fault != "" {
						c.Fault(test.fault)
					}
					evidence, _ := judged(t, c, collect.Options{})
					t.Log(evidence.Requests, evidence.Took)
					assert.LessOrEqual(t, evidence.Requests, test.requests)
					assert.LessOrEqual(t, evidence.Took, test.took)
				})
		})
	}
}

// A server that does not answer costs time, within the limit; a bound on requests leaves things
// out. What was not read is named.
func TestLimits(t *testing.T) {
	inWorld(t, causes.Fixture{NoController: true}, causes.Empty, 2*time.Minute,
		func(t *testing.T, c *clustertest.Cluster) {
			evidence, report := judged(t, c, collect.Options{Interval: -1, MaxRequests: 10})
			assert.Contains(t, evidence.Incomplete, "--max-requests")
			assert.LessOrEqual(t, evidence.Requests, 10)
			assertClusterRead(t, evidence)
			assert.Equal(t, 1, report.Checked.Samples)
			assert.NotEmpty(t, report.Checked.Unread)
			assert.NotEqual(t, why.Stuck, report.Verdict)

			c.Fault("delay:by=1h,verb=list,resource=secrets,user=kubernetes-admin")
			began := time.Now()
			evidence, report = judged(t, c, collect.Options{Interval: -1})
			assert.LessOrEqual(t, time.Since(began), 8*time.Second)
			assert.Contains(t, report.Checked.Unread, "secrets")
			assert.Empty(t, evidence.Incomplete)
			evidence, _ = judged(t, c, collect.Options{Timeout: 2 * time.Second})
			assert.Contains(t, evidence.Incomplete, "--timeout")
			assertClusterRead(t, evidence)

			c.Fault("delay:by=1h,verb=list,user=kubernetes-admin")
			evidence, report = judged(t, c, collect.Options{Interval: -1, Timeout: 3 * time.Second})
			assert.Contains(t, evidence.Incomplete, "--timeout")
			assert.NotEqual(t, why.Stuck, report.Verdict)
		})
}

// assertClusterRead checks that the limits of what is read of the content left time and requests
// for the cluster.
func assertClusterRead(t *testing.T, e why.Evidence) {
	t.Helper()
	assert.True(t, e.APIServices.Known() && e.Definitions.Known() && e.Managers.Known() && e.Leases.Known())
}

// What was repaired between the samples is not called proven.
func TestRepairedMeanwhile(t *testing.T) {
	waits := []string{"C10", "C27", "C29"}
	// a process starts or stops, or a right is given, of which no object tells
	unseen := []string{"C19", "C20", "C22", "C28", "C30"}
	inEach(t, slices.Concat(waits, unseen), func(t *testing.T, f causes.Fixture, c *clustertest.Cluster) {
		w := causes.NewWorld(t.Context(), c.Admin())
		var repair sync.WaitGroup
		repair.Go(func() {
			time.Sleep(4 * time.Second)
			f.Solve(w)
		})
		_, report := judged(t, c, collect.Options{})
		repair.Wait()
		require.NoError(t, w.Err())
		if found := find(report, f.ID); found != nil {
			assert.NotEqual(t, why.Proven, found.Certainty, text(t, report))
		}
	})
}

// Whatever the cause, an examination sends no write: each one of this user would be refused.
func TestNoWriteIsSent(t *testing.T) {
	// The situation itself goes on writing, or its controller's deletions are refused.
	but := []string{"C20", "C21", "C27"}
	inEach(t, but, func(t *testing.T, f causes.Fixture, c *clustertest.Cluster) {
		const writes = "forbid:verb=update|patch|delete|deletecollection,user=kubernetes-admin"
		const reads = "delay:by=1ns,user=kubernetes-admin"
		c.Fault(writes)
		c.Fault(reads)
		judged(t, c, collect.Options{})
		for _, fault := range c.Server.Faults().List() {
			switch fault.Text {
			case writes:
				assert.Zero(t, fault.Hits)
			case reads:
				assert.NotZero(t, fault.Hits, "the examination's requests are counted")
			}
		}
	})
}

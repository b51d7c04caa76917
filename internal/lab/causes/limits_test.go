package causes_test

import (
	"encoding/json"
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
)

// lists are the lists that a verdict may need.
var lists = []string{
	"apiservices", "customresourcedefinitions", "pods", "leases", "nodes", "services", "endpointslices",
	"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "deployments", "statefulsets", "daemonsets", "clusterroles",
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
			inWorld(t, causes.Fixture{NoController: true}, test.setUp, time.Second, func(t *testing.T, c *clustertest.Cluster) {
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
	inWorld(t, causes.Fixture{NoController: true}, causes.Empty, 2*time.Minute, func(t *testing.T, c *clustertest.Cluster) {
		evidence, report := judged(t, c, collect.Options{Interval: -1, MaxRequests: 10})
		assert.Contains(t, evidence.Incomplete, "--max-requests")
		assert.LessOrEqual(t, evidence.Requests, 10)
		assert.Equal(t, 1, report.Checked.Samples)
		assert.NotEmpty(t, report.Checked.Unread)
		assert.NotEqual(t, why.Stuck, report.Verdict)

		c.Fault("delay:by=1h,verb=list,resource=secrets,user=kubernetes-admin")
		began := time.Now()
		evidence, report = judged(t, c, collect.Options{Interval: -1})
		assert.LessOrEqual(t, time.Since(began), 8*time.Second)
		assert.Contains(t, report.Checked.Unread, "secrets")
		assert.Empty(t, evidence.Incomplete)

		c.Fault("delay:by=1h,verb=list,user=kubernetes-admin")
		evidence, report = judged(t, c, collect.Options{Interval: -1, Timeout: 3 * time.Second})
		assert.Contains(t, evidence.Incomplete, "--timeout")
		assert.NotEqual(t, why.Stuck, report.Verdict)
	})
}

// What was repaired between the samples is not called proven.
func TestRepairedMeanwhile(t *testing.T) {
	waits := []string{"C10", "C27", "C29"}
	unseen := []string{"C19", "C20", "C22", "C28", "C30"} // a process starts or stops, or a right is given, of which no object tells
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

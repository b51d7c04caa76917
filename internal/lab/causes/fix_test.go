package causes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
	"orrery/internal/why/fix"
	"orrery/restclient"
	"orrery/restclient/api"
)

const (
	scaledObjects   = "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/"
	operatorStatus  = "/apis/apps/v1/namespaces/keda/deployments/keda-operator/status"
	metricsAPI      = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io"
	racesInOneWorld = 50
	// sampleGap is the time between the samples of the races, and around writeTime an --apply
	// writes.
	sampleGap = 5 * time.Second
	writeTime = sampleGap + 300*time.Millisecond
)

// offered returns the only remedy of a cause that can be applied.
func offered(t *testing.T, report why.Report, id string) fix.Remedy {
	t.Helper()
	var found []fix.Remedy
	for _, remedy := range fix.Plan(report) {
		if remedy.Digest != "" && remedy.Cause == id {
			found = append(found, remedy)
		}
	}
	require.Len(t, found, 1, text(t, report))
	return found[0]
}

// planned is `orrery why --fix`.
func planned(t *testing.T, c *clustertest.Cluster, id string) fix.Remedy {
	t.Helper()
	_, report := judged(t, c, collect.Options{Interval: sampleGap})
	return offered(t, report, id)
}

// apply is `orrery why --apply --confirm`: everything is collected again.
func apply(t *testing.T, c *clustertest.Cluster, digest string) error {
	t.Helper()
	_, report := judged(t, c, collect.Options{Interval: sampleGap})
	remedy, err := fix.Find(report, digest)
	if err != nil {
		return err
	}
	return fix.Apply(t.Context(), c.Admin(), remedy, digest)
}

// change is another write between --fix and --apply, or during --apply. It reports whether the
// server accepted it.
type change struct {
	name string
	do   func(c *clustertest.Cluster, path string) bool
	// undo prepares the next race. early: it must be seen, so it is made before --apply begins.
	undo  func(c *clustertest.Cluster)
	early bool
}

func done(_ []byte, err error) bool { return err == nil }

// changes of any object.
var changes = []change{
	{name: "nothing", do: func(*clustertest.Cluster, string) bool { return false }},
	{name: "an annotation", do: func(c *clustertest.Cluster, path string) bool {
		return done(c.Request(http.MethodPatch, path, `{"metadata":{"annotations":{"at":"`+time.Now().String()+`"}}}`))
	}},
}

var finalizerChanges = append(changes[:len(changes):len(changes)],
	change{name: "its owner removes it", do: func(c *clustertest.Cluster, path string) bool {
		return done(c.Request(http.MethodPatch, path, `{"metadata":{"finalizers":null}}`))
	}},
	change{
		name: "its owner is back", early: true,
		do: func(c *clustertest.Cluster, _ string) bool {
			return done(c.Request(http.MethodPatch, operatorStatus, `{"status":{"replicas":1,"readyReplicas":1}}`))
		},
		undo: func(c *clustertest.Cluster) {
			c.Must(http.MethodPatch, operatorStatus, `{"status":{"replicas":0,"readyReplicas":0}}`)
		},
	},
)

var apiServiceChanges = append(changes[:len(changes):len(changes)],
	change{name: "it is deleted", do: func(c *clustertest.Cluster, path string) bool {
		return done(c.Request(http.MethodDelete, path, ""))
	}},
	change{name: "another one of its name", do: func(c *clustertest.Cluster, path string) bool {
		if !done(c.Request(http.MethodDelete, path, "")) {
			return false
		}
		w := causes.NewWorld(context.Background(), c.Admin())
		causes.ServeAPI(w)
		return w.Err() == nil
	}},
	change{
		name: "its Service is back", early: true,
		do: func(c *clustertest.Cluster, _ string) bool {
			return done(c.Request(http.MethodPost, "/api/v1/namespaces/kube-system/services", `{"metadata":{"name":"metrics-server"},"spec":{"ports":[{"port":443}]}}`))
		},
		undo: func(c *clustertest.Cluster) {
			c.Must(http.MethodDelete, "/api/v1/namespaces/kube-system/services/metrics-server", "")
		},
	},
)

// race plans a remedy, makes another change at a random moment, and applies the remedy. It reports
// whether the write was done. Whatever was changed first must have prevented that.
func race(t *testing.T, c *clustertest.Cluster, random *rand.Rand, id string, path func(*why.Write) string, changes []change) (applied bool) {
	t.Helper()
	remedy := planned(t, c, id)
	made := changes[random.IntN(len(changes))]
	wait := time.Duration(random.Int64N(int64(writeTime)))
	switch {
	case made.early:
		wait = -1
	case random.IntN(2) == 0: // near the write
		wait = writeTime - 200*time.Millisecond + time.Duration(random.Int64N(int64(300*time.Millisecond)))
	}
	object := path(remedy.Write)
	var changed bool
	var other sync.WaitGroup
	if wait < 0 {
		changed = made.do(c, object)
	} else {
		other.Go(func() {
			time.Sleep(wait)
			changed = made.do(c, object)
		})
	}
	err := apply(t, c, remedy.Digest)
	other.Wait()
	_, read := c.Request(http.MethodGet, object, "")
	if err == nil {
		assert.False(t, changed, "%s after %v, and the write was done", made.name, wait)
		assert.Error(t, read, "the object is gone")
	} else {
		var refused *fix.RefusedError
		require.ErrorAs(t, err, &refused)
		assert.True(t, changed, "%s after %v: %v", made.name, wait, err)
	}
	if made.undo != nil {
		made.undo(c)
	}
	return err == nil
}

// In 1,000 races (100 with -short), another client changes the object or its owner between --fix
// and --apply. If that change comes first, --apply writes nothing.
func TestFix(t *testing.T) {
	worlds := 10
	if testing.Short() {
		worlds = 1
	}
	for i := range worlds {
		t.Run(fmt.Sprint("finalizer ", i), func(t *testing.T) {
			setUp := func(w *causes.World) { causes.Orphans(w, racesInOneWorld) }
			races(t, uint64(i), setUp, func(t *testing.T, c *clustertest.Cluster, random *rand.Rand) bool {
				return race(t, c, random, "C04", func(w *why.Write) string { return scaledObjects + w.Name }, finalizerChanges)
			})
		})
		t.Run(fmt.Sprint("APIService ", i), func(t *testing.T) {
			races(t, uint64(i), causes.Undiscovered, func(t *testing.T, c *clustertest.Cluster, random *rand.Rand) bool {
				applied := race(t, c, random, "C01", func(*why.Write) string { return metricsAPI }, apiServiceChanges)
				if _, err := c.Request(http.MethodGet, metricsAPI, ""); err != nil {
					w := causes.NewWorld(t.Context(), c.Admin())
					causes.ServeAPI(w)
					require.NoError(t, w.Err())
				}
				time.Sleep(time.Minute) // its availability is known
				return applied
			})
		})
	}
}

func races(t *testing.T, seed uint64, setUp func(*causes.World), one func(t *testing.T, c *clustertest.Cluster, random *rand.Rand) bool) {
	inWorld(t, causes.Fixture{NoController: true}, setUp, time.Minute, func(t *testing.T, c *clustertest.Cluster) {
		c.Fault("delay:by=20ms,user=kubernetes-admin")
		random := rand.New(rand.NewPCG(seed, 7))
		applied := 0
		for range racesInOneWorld {
			if one(t, c, random) {
				applied++
			}
		}
		assert.Greater(t, applied, 0)
		assert.Less(t, applied, racesInOneWorld)
	})
}

// applied applies the only remedy of a cause.
func applied(t *testing.T, c *clustertest.Cluster, id string) {
	t.Helper()
	require.NoError(t, apply(t, c, planned(t, c, id).Digest))
}

// A foreign token is removed, and nothing else of the namespace is touched; a changed namespace is
// left alone.
func TestApplyToANamespace(t *testing.T) {
	setUp := func(w *causes.World) { causes.Tokens(w) }
	inWorld(t, causes.Fixture{}, setUp, causes.Settled, func(t *testing.T, c *clustertest.Cluster) {
		digest := planned(t, c, "C18").Digest
		const shop = "/api/v1/namespaces/shop"
		c.Must(http.MethodPatch, shop, `{"metadata":{"annotations":{"a":"b"}}}`)
		var refused *fix.RefusedError
		require.ErrorAs(t, apply(t, c, digest), &refused)
		time.Sleep(causes.Settled)
		applied(t, c, "C18")
		left := clustertest.Get[api.Namespace](c, shop)
		assert.Equal(t, []string{"example.com/audit"}, left.Finalizers)
		assert.NotContains(t, left.Spec.Finalizers, "example.com/x")
		assert.Equal(t, "b", left.Annotations["a"])
		assert.Equal(t, "c", left.Labels["team"])
	})
}

// What is offered ends the cause: the namespace goes.
func TestApplyEndsTheCause(t *testing.T) {
	for _, f := range causes.Fixtures() {
		if !slices.Contains([]string{"C01", "C02", "C04", "C05", "C15", "C18", "C24"}, f.ID) {
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
				applied(t, c, f.ID)
				time.Sleep(2 * causes.Settled)
				_, err := c.Request(http.MethodGet, "/api/v1/namespaces/shop", "")
				assert.True(t, api.IsNotFound(err), "%v", err)
			})
		})
	}
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
		remedies := slices.DeleteFunc(find(report, "C07").Remedies, func(r why.Remedy) bool { return !strings.Contains(r.Command, " | jq ") })
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

// No near miss and no cause without a proof gets a digest.
func TestOnlyProvenCausesAreOffered(t *testing.T) {
	for _, f := range causes.Fixtures() {
		t.Run(f.ID, func(t *testing.T) {
			inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
				for _, options := range []collect.Options{{Interval: time.Second}, {Interval: -1}} {
					_, report := judged(t, c, options)
					for _, finding := range report.Findings {
						for _, remedy := range finding.Remedies {
							if remedy.Digest == "" {
								continue
							}
							assert.Equal(t, why.Proven, finding.Certainty)
							assert.NotEmpty(t, remedy.Loses)
							assert.Contains(t, []string{"C01", "C02", "C04", "C05", "C13", "C15", "C16", "C18", "C24"}, finding.ID)
						}
					}
				}
			})
		})
	}
}

// A webhook that refuses the write refuses its dry run: nothing is written.
func TestApplyIsRefusedByTheDryRun(t *testing.T) {
	f := causes.Fixtures()[slices.IndexFunc(causes.Fixtures(), func(f causes.Fixture) bool { return f.ID == "C04" })]
	inWorld(t, f, f.SetUp, f.Settle, func(t *testing.T, c *clustertest.Cluster) {
		digest := planned(t, c, "C04").Digest
		c.Fault("forbid:verb=patch,resource=scaledobjects,user=kubernetes-admin")
		var refused *fix.RefusedError
		require.ErrorAs(t, apply(t, c, digest), &refused)
		assert.True(t, api.IsForbidden(refused))
	})
}

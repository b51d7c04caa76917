package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/upstream/controlplane"
)

// kubectl rolls out a deployment by the two example controllers.
func TestKubectlRollsOut(t *testing.T) {
	t.Parallel()
	cluster := onControlPlane(t, controlplane.Config{FakeNodes: 1}).cluster
	runWorkloads(t, cluster.ControlPlane)
	run := func(line string) string {
		t.Helper()
		return kubectl(t, cluster.Kubeconfig(), line)
	}
	rolledOut := func() {
		t.Helper()
		assert.Contains(t, run("rollout status deployment/web --timeout=2m"),
			`deployment "web" successfully rolled out`)
	}
	image := func() string {
		return run("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}")
	}
	// The revisions with their causes.
	history := func() (rows []string) {
		for row := range strings.Lines(run("rollout history deployment/web")) {
			if fields := strings.Fields(row); len(fields) == 2 && fields[0] != "REVISION" {
				rows = append(rows, strings.Join(fields, " "))
			}
		}
		return rows
	}

	run("create deployment web --image=example.com/web:1 --replicas=3")
	rolledOut()
	run("scale deployment web --replicas=5")
	rolledOut()
	assert.Equal(t, "5/5", run("get deployment web -o jsonpath={.status.availableReplicas}/{.status.replicas}"))

	run("annotate deployment web kubernetes.io/change-cause=second")
	run("set image deployment/web web=example.com/web:2")
	rolledOut()
	assert.Equal(t, []string{"1 second", "2 second"}, history(), "the cause was written while the first was the newest")
	assert.Contains(t, run("rollout history deployment/web --revision=1"), "example.com/web:1")

	run("rollout undo deployment/web")
	rolledOut()
	assert.Equal(t, "example.com/web:1", image())
	assert.Equal(t, []string{"2 second", "3 second"}, history())
	run("rollout undo deployment/web --to-revision=2")
	rolledOut()
	assert.Equal(t, "example.com/web:2", image())

	run("rollout pause deployment/web")
	run("set image deployment/web web=example.com/web:3")
	run("rollout resume deployment/web")
	rolledOut()
	run("rollout restart deployment/web")
	rolledOut()
	assert.Len(t, history(), 4)

	run("delete deployment web --cascade=orphan")
	sets := run("get replicasets -o name")
	assert.Len(t, strings.Fields(sets), 4, "they outlive the deployment")
	run("create deployment web --image=example.com/web:1 --replicas=2")
	rolledOut()
	assert.Equal(t, strings.Fields(sets), strings.Fields(run("get replicasets -o name")),
		"a new deployment takes them over")
	run("delete deployment web --cascade=foreground --timeout=2m")
	run("wait --for=delete pods --all --timeout=2m")
	assert.Empty(t, strings.Fields(run("get replicasets,pods -o name")))
}

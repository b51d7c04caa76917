package script_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/script"
	"orrery/internal/lab/labs/texts"
	"orrery/internal/why"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// verdicts have a seed whose second namespace has no pod, and so is set up at once: C07 and C18.
const verdicts = "seed: 7\n"

// reports is a controller that only writes a condition.
func reports() error {
	config, _, err := kubeconfig.Load(kubeconfig.Options{Path: os.Args[slices.Index(os.Args, "--kubeconfig")+1]})
	if err != nil {
		return err
	}
	client, err := restclient.New(config)
	if err != nil {
		return err
	}
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	for range time.Tick(10 * time.Millisecond) {
		namespace, err := namespaces.Get(context.Background(), causes.Namespace, api.GetOptions{})
		if err == nil && namespace.DeletionTimestamp != nil && len(namespace.Status.Conditions) == 0 {
			namespace.Status.Conditions = []api.NamespaceCondition{{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue, Reason: "Seen", Message: "all"}}
			namespaces.UpdateStatus(context.Background(), namespace, api.UpdateOptions{})
		}
	}
	return nil
}

// explains is "orrery why".
func explains(mode string) int {
	fmt.Println(os.Args[2], "C07", os.Getenv("KUBECONFIG") != "")
	if mode == "guesses" {
		return why.ExitUnknown
	}
	fmt.Println("C18")
	return why.ExitStuck
}

func TestAStuckNamespaceIsExplainedAfterAPass(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verdict.yaml")
	require.NoError(t, os.WriteFile(file, []byte(verdicts), 0o600))
	for _, c := range []struct {
		mode       string
		passed, ok bool
		says       string
	}{
		{"knows", false, true, `"orrery why shop" explains it here when your verdicts have passed`},
		{"knows", true, true, "orrery why shop:\nshop C07 true\nC18\n"},
		{"guesses", true, false, "shop C07 true\n"},
	} {
		t.Setenv("LAB_CONTROLLER", c.mode)
		var out strings.Builder
		outcome, err := script.Play(t.Context(), script.Config{
			Run:     manifest.Run{Script: []manifest.Action{{Stuck: &manifest.Stuck{Namespace: "second"}}}},
			Program: os.Args[0], Log: filepath.Join(t.TempDir(), "run.log"), Out: &out, Lang: texts.English, Verdicts: file, Passed: c.passed,
		})
		require.NoError(t, err)
		assert.Equal(t, c.ok, outcome.OK, out.String())
		assert.Contains(t, out.String(), "namespace shop: Terminating\n")
		assert.Contains(t, out.String(), "NamespaceContentRemaining=True Seen: all\n")
		assert.Contains(t, out.String(), c.says)
		assert.Equal(t, c.passed && c.ok, strings.Contains(out.String(), "\nC18\n"), out.String())
		assert.Equal(t, !c.ok, strings.Contains(out.String(), "orrery why must prove C07, C18, and has not done so within 0 s"), out.String())
	}
}

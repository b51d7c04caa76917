package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/clustertest"
)

// Every log line of a pass carries its reconcile ID, including the lines of the requests it
// makes. This is enough to follow one namespace when many are worked on at once.
func TestEveryLineOfAPassCarriesItsID(t *testing.T) {
	path := builtIn(t)
	const many = 8
	for i := range many {
		hold(t, path, fmt.Sprint("n", i))
	}
	var stderr clustertest.Buffer
	stop, ended := startOrrery(t, &stderr, "--kubeconfig", path, "-v3", "--log-format=json",
		"--metrics-port=0", "--allow-second-controller", "--namespace-deletion-grace-period=0")
	await(t, func() bool {
		return strings.Count(stderr.String(), `"content remains, finalizers of other controllers hold it"`) >= many
	}, stderr.String)
	stop()
	require.NoError(t, <-ended)

	ofPass := regexp.MustCompile(`^(pass |resource types discovered|content |condition holds|deleting content|namespace finalized|retry planned|several namespaces|event recorded)`)
	passes := map[string]string{} // the namespace of each pass
	var requests, events int
	for text := range strings.Lines(stderr.String()) {
		var line struct {
			Message, Namespace, Path, Method string
			ID                               string `json:"reconcile_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &line), text)
		if line.Message == "pass started" {
			require.NotContains(t, passes, line.ID, "reconcile IDs are unique")
			passes[line.ID] = line.Namespace
		}
		if ofPass.MatchString(line.Message) {
			require.Contains(t, passes, line.ID, text)
			if line.Namespace != "" {
				require.Equal(t, passes[line.ID], line.Namespace, text)
			}
		}
		if line.Message != "request" {
			continue
		}
		switch of := regexp.MustCompile(`/namespaces/(n\d)(/|$)`).FindStringSubmatch(line.Path); {
		case of != nil: // about one namespace
			requests++
			require.Equal(t, of[1], passes[line.ID], text)
		case strings.HasSuffix(line.Path, "/default/events"):
			events++
			require.Contains(t, passes, line.ID, text)
		}
	}
	assert.GreaterOrEqual(t, len(passes), many)
	assert.Greater(t, requests, many*3)
	assert.GreaterOrEqual(t, events, many)
}

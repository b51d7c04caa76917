package why

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"orrery/restclient/api"
)

// examplesText is written by the test of the fixtures, go test ./internal/lab/causes -run
// TestExamples -update.
//
//go:embed examples.json
var examplesText []byte

// Example is a namespace that is stuck for one cause, seen by two commands.
type Example struct {
	// Describe is what kubectl describe namespace says of the conditions that are True, and Why the
	// sentence of `orrery why`.
	Describe []string `json:"describe"`
	Why      string   `json:"why"`
}

// ExampleOf returns what the two commands say of a namespace.
func ExampleOf(n *Namespace, r Report) Example {
	example := Example{Why: r.Sentence}
	if n == nil || n.Deleted.IsZero() {
		example.Describe = []string{"Status: Active"}
		return example
	}
	example.Describe = []string{"Status: Terminating"}
	if none(n.Conditions) {
		example.Describe = append(example.Describe, "(no conditions)")
		return example
	}
	truths := 0
	for _, t := range ConditionTypes {
		for _, condition := range n.Conditions {
			if condition.Type == t && condition.Status == api.ConditionTrue {
				truths++
				example.Describe = append(example.Describe, fmt.Sprintf("%s  True  %s  %s", t, condition.Reason, condition.Message))
			}
		}
	}
	if truths == 0 {
		example.Describe = append(example.Describe, "(no condition is True)")
	}
	return example
}

// Examples returns an example of each cause, by id.
func Examples() (examples map[string]Example) {
	if err := json.Unmarshal(examplesText, &examples); err != nil {
		panic("why: examples.json: " + err.Error())
	}
	return examples
}

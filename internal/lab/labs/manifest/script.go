package manifest

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/internal/lab/labs/texts"
)

// Action is one action of the script of "lab run". At most one of the fields besides Say is set.
type Action struct {
	// Say is printed before the action.
	Say texts.Text `yaml:"say"`
	// Fill creates namespaces with config maps in them.
	Fill *Fill `yaml:"fill"`
	// Touch updates namespaces.
	Touch *Touch `yaml:"touch"`
	// Delete deletes the namespaces whose names begin with this, one request after the other.
	Delete string `yaml:"delete"`
	// Fault injects a fault, in the words of "lab help faults".
	Fault string `yaml:"fault"`
	// End ends the fault with this text.
	End string `yaml:"end"`
	// Pause lets time pass.
	Pause Duration `yaml:"pause"`
	// Gone waits until no namespace is left whose name begins with Prefix.
	Gone *Gone `yaml:"gone"`
	// Metric waits until a metric of the controller is within limits.
	Metric *Metric `yaml:"metric"`

	// Start starts the program that the manifest names.
	Start *Start `yaml:"start"`
	// Killed waits until the program has ended as if it was killed, with exit code 137.
	Killed Duration `yaml:"killed"`
	// CreateMachine creates a VirtualMachine with this name, and its definition before the first.
	CreateMachine string `yaml:"create_machine"`
	// DeleteMachine deletes the VirtualMachine with this name.
	DeleteMachine string `yaml:"delete_machine"`
	// Machines waits until exactly these VirtualMachines and servers exist.
	Machines *Machines `yaml:"machines"`

	// Bench measures with a program that is the laboratory.
	Bench *Bench `yaml:"bench"`

	// Stuck sets up a namespace of lab 13, and ends the one before.
	Stuck *Stuck `yaml:"stuck"`
}

// Stuck describes a namespace of lab 13, with the seed of the learner's verdicts.
type Stuck struct {
	// Namespace is "first" or "second".
	Namespace string `yaml:"namespace"`
	// Within is how long "orrery why" may take to prove its causes, once the verdicts have passed.
	Within Duration `yaml:"within"`
}

// Start describes a start of the program.
type Start struct {
	// Args follow those of the lab. In both, $STATE is a folder that outlives the program.
	Args []string `yaml:"args"`
}

// Machines describes VirtualMachine objects and the servers of the driver memory in $STATE, both by
// the names of the objects.
type Machines struct {
	Objects []string `yaml:"objects"`
	Servers []string `yaml:"servers"`
	Within  Duration `yaml:"within"`
}

// Bench describes benchmarks that take turns.
type Bench struct {
	// Args follow those of the lab: the name of the benchmark, and its flags.
	Args []string `yaml:"args"`
	// Designs are measured. "yours" is the textbook's in the program with the pages of Run.Beside;
	// it is left out if that lab has not passed.
	Designs []string `yaml:"designs"`
	// Rounds is how often each is measured. The table shows medians. Default: once.
	Rounds int `yaml:"rounds"`
	// AtLeast are the least latencies of every design, by p50, p90, p99 and max.
	AtLeast map[string]Duration `yaml:"at_least"`
}

// Fill describes new namespaces: prefix-0, prefix-1, and so on.
type Fill struct {
	Prefix     string `yaml:"prefix"`
	Namespaces int    `yaml:"namespaces"`
	// Objects is the number of config maps in each.
	Objects int `yaml:"objects"`
}

// Touch describes updates: each namespace with the prefix gets Times updates, with a pause of Every
// between two rounds.
type Touch struct {
	Prefix string   `yaml:"prefix"`
	Times  int      `yaml:"times"`
	Every  Duration `yaml:"every"`
}

// Gone describes namespaces that must disappear.
type Gone struct {
	Prefix string   `yaml:"prefix"`
	Within Duration `yaml:"within"`
}

// Metric describes a metric's value: the sum over all series whose text begins with Name.
type Metric struct {
	Name    string   `yaml:"name"`
	AtLeast *float64 `yaml:"at_least"`
	AtMost  *float64 `yaml:"at_most"`
	// Within is how long the value may take. Zero: it is read once.
	Within Duration `yaml:"within"`
}

// Holds reports whether a value is within the limits.
func (m Metric) Holds(value float64) bool {
	return (m.AtLeast == nil || value >= *m.AtLeast) && (m.AtMost == nil || value <= *m.AtMost)
}

// Duration is a duration such as 500ms or 30s.
type Duration struct{ time.Duration }

// UnmarshalYAML parses the duration.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	var text string
	if err := node.Decode(&text); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return fmt.Errorf("line %d: %q is not a duration such as 500ms or 30s", node.Line, text)
	}
	d.Duration = parsed
	return nil
}

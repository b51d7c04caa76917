package manifest

import "orrery/internal/lab/labs/texts"

// Question is a question of predict.yaml, which "lab quiz" asks. No choice is marked as right:
// package predict runs the script, and the right choice is the one that says what the run yields.
type Question struct {
	ID string `yaml:"id"`
	// Gear is the interpreter that runs the script.
	Gear string `yaml:"gear"`
	// Script has a command a line. The question is about what the last one yields.
	Script     string `yaml:"script"`
	texts.Text `yaml:",inline"`
	Choices    []Choice `yaml:"choices"`
	// Why says in one sentence why the right choice is right.
	Why texts.Text `yaml:"why"`
}

// Choice is an answer that a learner may choose.
type Choice struct {
	// Is is compared with what the run yields.
	Is         string `yaml:"is"`
	texts.Text `yaml:",inline"`
	// Belief is the belief behind a wrong choice. The right choice has none.
	Belief texts.Text `yaml:"belief"`
}

package selector

// Fields is a field selector. The zero value selects everything.
type Fields struct {
	requirements []FieldRequirement
}

// FieldRequirement is one condition on a field.
type FieldRequirement struct {
	// Field is the name of the field: "metadata.name".
	Field string
	// Operator is [Equals] or [NotEquals].
	Operator Operator
	Value    string
}

// ParseFields reads a selector as it comes in a query. The error's text is that of kube-apiserver's answer.
func ParseFields(text string) (Fields, error) { return Fields{}, nil }

// Empty tells whether everything is selected.
func (f Fields) Empty() bool { return len(f.requirements) == 0 }

// Requirements returns the conditions, in the order in which they were written. The slice is shared: read only.
func (f Fields) Requirements() []FieldRequirement { return f.requirements }

// Matches tells whether an object is selected. get returns the value of a field, "" for one that it does not have.
func (f Fields) Matches(get func(field string) string) bool { return true }

// String writes the selector so that ParseFields reads the same one.
func (f Fields) String() string { return "" }

package main

// File holds the cases of one resource.
type File struct {
	// Resource is "version/plural" or "group/version/plural".
	Resource string `json:"resource"`
	// Namespaced reports whether the objects have a namespace.
	Namespaced bool   `json:"namespaced,omitempty"`
	Cases      []Case `json:"cases"`
}

// Case is an object with its updates and the answers.
type Case struct {
	Name string `json:"name"`
	// Create is the manifest; kind and apiVersion default to the file's.
	Create map[string]any `json:"create"`
	// Answer is the stored object, or the Status of a refusal.
	Answer map[string]any `json:"answer,omitempty"`
	Steps  []Step         `json:"steps,omitempty"`
	// Table is the object as a table after the last step, at the time Now.
	Table map[string]any `json:"table,omitempty"`
	Now   string         `json:"now,omitempty"`
}

// Step is an update.
type Step struct {
	// Subresource is "" for the object itself.
	Subresource string `json:"subresource,omitempty"`
	// Before is the stored object at the start of the step, with the changes of controllers.
	Before map[string]any `json:"before,omitempty"`
	// Update is a JSON merge patch on Before.
	Update map[string]any `json:"update"`
	// Answer is the stored object, or the Status of a refusal.
	Answer map[string]any `json:"answer,omitempty"`
}

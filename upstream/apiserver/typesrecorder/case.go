package main

// File is a set of cases on one resource.
type File struct {
	// Resource is "version/plural" or "group/version/plural".
	Resource string `json:"resource"`
	// Namespaced tells whether the objects live in a namespace.
	Namespaced bool   `json:"namespaced,omitempty"`
	Cases      []Case `json:"cases"`
}

// Case is an object and what becomes of it.
type Case struct {
	Name string `json:"name"`
	// Create is the manifest, without kind and apiVersion where the file's are meant.
	Create map[string]any `json:"create"`
	// Answer is what the server stored, or the Status of its refusal.
	Answer map[string]any `json:"answer,omitempty"`
	Steps  []Step         `json:"steps,omitempty"`
	// Table is the answer to a request for the object as a table after the last step, at the moment Now.
	Table map[string]any `json:"table,omitempty"`
	Now   string         `json:"now,omitempty"`
}

// Step is an update.
type Step struct {
	// Subresource is "" for the object itself.
	Subresource string `json:"subresource,omitempty"`
	// Before is what was stored when the step began, with whatever controllers did meanwhile.
	Before map[string]any `json:"before,omitempty"`
	// Update is a JSON merge patch on Before.
	Update map[string]any `json:"update"`
	// Answer is what the server stored, or the Status of its refusal.
	Answer map[string]any `json:"answer,omitempty"`
}

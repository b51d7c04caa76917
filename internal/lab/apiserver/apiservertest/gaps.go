package apiservertest

// Gap is a case in which this project's server deliberately answers otherwise than kube-apiserver.
type Gap struct {
	Theme, Title string
	// Reason says why. docs/apiserver.md has the same sentence.
	Reason string
}

const (
	onlyText = "Answers are JSON or YAML, never protobuf: every client that asks for protobuf can fall back, and a learner can read the conversation."
	noApply  = "Server-side apply is not built: it needs the owner of every field. It is refused with 415 before anything else about it is checked, and kubectl apply without --server-side does not use it."
)

// Gaps are all of them. A test holds this list and the section "Deliberate gaps" of docs/apiserver.md together.
func Gaps() []Gap {
	return []Gap{
		{Theme: "forms", Title: "An unknown form alone", Reason: onlyText},
		{Theme: "forms", Title: "Any application will not do", Reason: onlyText},
		{Theme: "forms", Title: "Text cannot be had", Reason: onlyText},
		{Theme: "forms", Title: "An object as HTML cannot be had", Reason: onlyText},
		{Theme: "forms", Title: "Protobuf or JSON", Reason: onlyText},
		{Theme: "forms", Title: "Protobuf alone", Reason: onlyText},
		{Theme: "patch", Title: "Server-side apply", Reason: noApply},
		{Theme: "patch", Title: "Server-side apply needs a manager", Reason: noApply},
	}
}

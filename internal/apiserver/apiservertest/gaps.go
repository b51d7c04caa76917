package apiservertest

// Gap is a case in which this project's server deliberately answers otherwise than kube-apiserver.
type Gap struct {
	Theme, Title string
	// Reason says why. docs/apiserver.md has the same sentence.
	Reason string
}

// Gaps are all of them. A test holds this list and the section "Deliberate gaps" of docs/apiserver.md together.
func Gaps() []Gap {
	return []Gap{}
}

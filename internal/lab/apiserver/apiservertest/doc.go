// Package apiservertest holds conversations with a genuine kube-apiserver, written down, and a suite that has them again
// with another server and compares the answers.
//
// # Concept
//
// A script is a text file in testdata, one for each theme, written by hand: cases, each with a title, a request, and
// what to remember of the answer for later requests.
//
//	=== An update that has seen an older version is refused
//	PUT /api/v1/namespaces/crud/configmaps/settings
//
//	{"metadata":{"name":"settings","resourceVersion":"${old}"},"data":{"colour":"green"}}
//
//	=== A read shows what the first update has left
//	GET /api/v1/namespaces/crud/configmaps/settings
//	keep uid = metadata.uid
//
// Beside it lies the recording: for each case the answer of kube-apiserver, made by the recorder in upstream/
// ("make -C upstream record"). What differs from run to run is masked, in recordings and in answers to compare alike: a
// UID is <uid>, a version <version>, a moment <time>, unless the script has kept it, then it is ${uid}. So a recording
// also says that the UID in an error message is the one of the object, and that a write which changed nothing left the
// version as it was.
//
// The files are meant to be read. Whoever wants to know what Kubernetes answers to a certain request finds the request in
// a script and, under the same title, the answer in the recording.
//
// # Lines of a case
//
// After "=== title" comes the request, "METHOD path", with variables as ${name}. ${pad:5} stands for xxxxx. Then, before
// an empty line and the body:
//
//	Header: value            a header of the request; a body is JSON unless Content-Type says something else
//	keep name = path         the value at a path of the answer, such as metadata.uid or items.0.metadata.name
//	until 404                the request is repeated until this is the status
//	until status.phase = X   the request is repeated until the answer has this value
//	events 3                 the answer is a stream of which this many events are read; it may end earlier
//	as nobody                without credentials
//	without body             of the answer only status and headers are recorded
//
// Lines that begin with "#" before the first case say what the script is about; before a title they are comments.
//
// # Guarantees
//
// [Run] compares status, headers that matter (Content-Type, Warning, Retry-After, Allow, Location, WWW-Authenticate)
// and the whole body, without the order of members and without managedFields. Where this project's server deliberately
// differs, [Gaps] says so with a reason; such a case must differ, so that the list stays true.
//
// # Goroutines
//
// None that outlive a call.
//
// # Failure
//
// An answer that differs fails its case, with the lines that differ. The cases after it are played all the same.
//
// # Testing
//
// The suite's own tests play scripts against a function. Package upstream/apiserver/recorder proves with a real control
// plane that the recordings can be repeated.
//
// Next: package upstream/apiserver/recorder
package apiservertest

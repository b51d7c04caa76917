package trace

import (
	"strings"
	"time"
)

// The methods of this page record what only the laboratory has. Its hooks are in packages that this
// one must not import.

// Scene records the beginning of a scene.
func (r *Recorder) Scene(name, arguments string) {
	r.put(record{kind: labScene, a: name, b: clip(arguments)})
}

// Input records what a reader does to the run: an answer, or a command for the gates.
func (r *Recorder) Input(name, arguments string) {
	r.put(record{kind: labInput, a: name, b: clip(arguments)})
}

// Held records that a key waits at a gate, in the informer or queue of this name.
func (r *Recorder) Held(gate, in, key string) {
	r.put(record{kind: labHeld, a: gate, in: in, key: key})
}

// Stepped records that one key was let through a gate.
func (r *Recorder) Stepped(gate, in, key string) {
	r.put(record{kind: labStepped, a: gate, in: in, key: key})
}

// Released records that a gate was opened.
func (r *Recorder) Released(gate string) { r.put(record{kind: labReleased, a: gate}) }

// Chapter records that a guided scene goes on to its next chapter.
func (r *Recorder) Chapter(name string) { r.put(record{kind: labChapter, a: name}) }

// Question records that a guided scene asks; choices are the possible answers.
func (r *Recorder) Question(scene string, choices []string) {
	r.put(record{kind: labQuestion, a: scene, b: strings.Join(choices, ChoiceSeparator)})
}

// ChoiceSeparator stands between the choices of a question.
const ChoiceSeparator = " | "

// Answer records the answer to a scene's question, as the recording has it.
func (r *Recorder) Answer(scene, answer string) {
	r.put(record{kind: labAnswer, a: scene, b: clip(answer)})
}

// ServerRequest records that the server in memory has taken a request; its ServerAnswer follows.
func (r *Recorder) ServerRequest(verb, user string) {
	r.put(record{kind: serverRequestStarted, a: verb, b: user})
}

// ServerAnswer records the answer, or the end of a watch.
func (r *Recorder) ServerAnswer(verb, user string, code int, took time.Duration) {
	r.put(record{kind: serverRequestDone, a: verb, b: user, y: int64(code), z: int64(took)})
}

// Committed records a write to the server's store: type is ADDED, MODIFIED or DELETED.
func (r *Recorder) Committed(resource, key, eventType, version string) {
	r.put(record{kind: storeCommitted, a: resource, key: key, b: eventType, c: version})
}

// StoreExpired records that the server refused a version that it no longer has.
func (r *Recorder) StoreExpired(err error) { r.put(record{kind: storeExpired, c: errText(err)}) }

// StoreCompacted records that the server forgot its history before this version.
func (r *Recorder) StoreCompacted(version string) {
	r.put(record{kind: storeCompacted, a: version})
}

package deltafifotest

import (
	"errors"
	"fmt"
	"strings"

	"orrery/deltafifo"
)

// Object is an object of the tests: a name and a version of its state.
type Object struct {
	Name    string
	Version int
}

// String returns name@version, and "nothing" for a nil object.
func (o *Object) String() string {
	if o == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s@%d", o.Name, o.Version)
}

// Obj returns the object with this name and version.
func Obj(name string, version int) *Object { return &Object{Name: name, Version: version} }

// ErrNameless is the error of KeyFunc for an Object without a name.
var ErrNameless = errors.New("the object has no name")

// KeyFunc is the key function for Objects: the name, or ErrNameless.
func KeyFunc(o *Object) (string, error) {
	if o.Name == "" {
		return "", ErrNameless
	}
	return o.Name, nil
}

// Describe returns one delta as text: "Added a@1", or "Deleted a@1 (inferred)" for a tombstone.
func Describe(d deltafifo.Delta[*Object]) string {
	text := fmt.Sprintf("%s %s", d.Type, d.Object)
	if d.Tombstone != nil {
		text += " (inferred)"
	}
	return text
}

// DescribeAll returns deltas as text, oldest first: "Added a@1, Updated a@2".
func DescribeAll(deltas deltafifo.Deltas[*Object]) string {
	texts := make([]string, len(deltas))
	for i, d := range deltas {
		texts[i] = Describe(d)
	}
	return strings.Join(texts, ", ")
}

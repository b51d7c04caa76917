package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"orrery/informer"
)

// State identifies an object and its version. The zero value stands for no object.
type State struct {
	UID     string
	Version uint64
}

// Object is the constraint of objects that have a history. All types of restclient/api satisfy it.
type Object interface {
	informer.Object
	GetUID() string
}

// StateOf returns the state of an object. Versions of built-in types are numbers; 0 stands for any
// other version.
func StateOf(o Object) State {
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	return State{o.GetUID(), version}
}

func (s State) String() string { return fmt.Sprintf("%s@%d", s.UID, s.Version) }

// Compare returns how the states of a store differ from the server's, by key.
func Compare(have, server map[string]State) (wrong []string) {
	for key, is := range server {
		if ours, there := have[key]; !there {
			wrong = append(wrong, fmt.Sprintf("%s is missing, which is %s", key, is))
		} else if ours != is {
			wrong = append(wrong, fmt.Sprintf("%s is %s and should be %s", key, ours, is))
		}
	}
	for key, ours := range have {
		if _, there := server[key]; !there {
			wrong = append(wrong, fmt.Sprintf("%s (%s) is not on the server", key, ours))
		}
	}
	slices.SortFunc(wrong, cmp.Compare)
	return wrong
}

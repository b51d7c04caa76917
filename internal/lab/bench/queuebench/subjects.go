package queuebench

import (
	"fmt"
	"strings"
)

// Subjects are the queues that can be measured here, the best first.
func Subjects() []Subject { return []Subject{Orrery(), OneMap(), Article()} }

// ParseSubject returns the subject of that name.
func ParseSubject(name string) (Subject, error) {
	var names []string
	for _, s := range Subjects() {
		if strings.EqualFold(name, s.Name()) {
			return s, nil
		}
		names = append(names, s.Name())
	}
	return nil, fmt.Errorf("there is no queue %q: choose one of %s", name, strings.Join(names, ", "))
}

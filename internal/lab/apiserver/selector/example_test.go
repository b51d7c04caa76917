package selector_test

import (
	"fmt"

	"orrery/internal/lab/apiserver/selector"
)

func ExampleParseLabels() {
	s, err := selector.ParseLabels("app in (web, db), !canary")
	fmt.Println(s, err)
	fmt.Println(s.Matches(map[string]string{"app": "web"}))
	fmt.Println(s.Matches(map[string]string{"app": "web", "canary": ""}))
	_, err = selector.ParseLabels("app web")
	fmt.Println(err)
	// Output:
	// app in (db,web),!canary <nil>
	// true
	// false
	// unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt
}

func ExampleParseFields() {
	s, err := selector.ParseFields("metadata.name!=a,status.phase=Active")
	fmt.Println(s, err)
	values := map[string]string{"metadata.name": "b", "status.phase": "Active"}
	fmt.Println(s.Matches(func(field string) string { return values[field] }))
	// Output:
	// metadata.name!=a,status.phase=Active <nil>
	// true
}

package causes

// course has the twelve causes of lab 13 of the workshop. A namespace has one of each of its two
// groups: the first one has a cause that keeps the pods, and one that waits behind them; the second
// one has one that refuses deletions, and one that waits for something outside.
var course = map[string][2][]string{
	"first":  {{"C11", "C12", "C13"}, {"C06", "C04", "C05"}},
	"second": {{"C07", "C08", "C09"}, {"C15", "C16", "C18"}},
}

// Seeds is how many different pairs of namespaces lab 13 has. Seed 1 is the course's own.
const Seeds = 81

// IsOfCourse reports whether lab 13 has a namespace of that name: "first" or "second".
func IsOfCourse(name string) bool { return course[name][0] != nil }

// OfCourse returns the situation of a namespace of lab 13 for a seed.
func OfCourse(name string, seed uint64) Fixture {
	number := (seed + Seeds - 1) % Seeds * 50 % Seeds // neighbours have little in common
	if name == "second" {
		number /= 9
	}
	groups := course[name]
	f, ok := Find(groups[0][number%3] + separator + groups[1][number/3%3])
	if !ok {
		panic("causes: lab 13 names a cause that is none")
	}
	return f
}

package resources

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

var kubernetesVersion = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// compareVersions orders the versions of a group by preference, as the API conventions say: stable before beta before
// alpha, newer before older, and anything that does not look like a version last, by name.
func compareVersions(a, b string) int {
	left, right := kubernetesVersion.FindStringSubmatch(a), kubernetesVersion.FindStringSubmatch(b)
	switch {
	case left == nil && right == nil:
		return cmp.Compare(a, b)
	case left == nil:
		return 1
	case right == nil:
		return -1
	}
	stages := []string{"", "beta", "alpha"}
	return cmp.Or(
		cmp.Compare(slices.Index(stages, left[2]), slices.Index(stages, right[2])),
		cmp.Compare(number(right[1]), number(left[1])),
		cmp.Compare(number(right[3]), number(left[3])),
	)
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package names

import "strings"

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

func isLowerAlphanumeric(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

func isAlphanumeric(r rune) bool { return isLowerAlphanumeric(r) || r >= 'A' && r <= 'Z' }

func isNotDataCharacter(r rune) bool {
	return !isAlphanumeric(r) && r != '-' && r != '_' && r != '.'
}

// isLabel tells whether the name is a DNS label in lower case, whatever its length.
func isLabel(name string) bool {
	if name == "" || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return !isLowerAlphanumeric(r) && r != '-' }) < 0
}

// isSubdomain tells whether the name is labels with dots between them.
func isSubdomain(name string) bool {
	for {
		label, rest, more := strings.Cut(name, ".")
		if !isLabel(label) {
			return false
		}
		if !more {
			return true
		}
		name = rest
	}
}

// isQualifiedPart tells whether the name is letters, digits and -_. in the middle.
func isQualifiedPart(name string) bool {
	if name == "" || !isAlphanumeric(rune(name[0])) || !isAlphanumeric(rune(name[len(name)-1])) {
		return false
	}
	return strings.IndexFunc(name, isNotDataCharacter) < 0
}

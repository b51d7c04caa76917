package meta

import (
	"fmt"
	"regexp"
	"strings"
)

// The limits of names, in bytes.
const (
	maxSubdomain = 253
	maxLabel     = 63
)

// The regular expressions that names must match and that the messages quote.
const (
	labelPattern      = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	subdomainPattern  = labelPattern + `(\.` + labelPattern + ")*"
	qualifiedPattern  = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	labelValuePattern = "(" + qualifiedPattern + ")?"
)

// Some messages say bytes and some characters. All limits are in bytes.
func tooLong(limit int) string { return fmt.Sprintf("must be no more than %d bytes", limit) }

func tooManyCharacters(limit int) string {
	return fmt.Sprintf("must be no more than %d characters", limit)
}

// pattern returns the message for a name that does not match regex.
func pattern(what, regex string, examples ...string) string {
	var b strings.Builder
	b.WriteString(what)
	if len(examples) > 0 {
		b.WriteString(" (e.g. ")
		for i, example := range examples {
			if i > 0 {
				b.WriteString(" or ")
			}
			b.WriteString("'" + example + "', ")
		}
	} else {
		b.WriteString(" (")
	}
	b.WriteString("regex used for validation is '" + regex + "')")
	return b.String()
}

var subdomainSentence = pattern("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character", subdomainPattern, "example.com")

// Subdomain checks a lower-case DNS subdomain (RFC 1123): the names of most objects.
func Subdomain(name string) []string {
	var wrong []string
	if len(name) > maxSubdomain {
		wrong = append(wrong, tooManyCharacters(maxSubdomain))
	}
	if !isSubdomain(name) {
		wrong = append(wrong, subdomainSentence)
	}
	return wrong
}

// Label checks a lower-case DNS label (RFC 1123): the names of namespaces and containers.
func Label(name string) []string {
	var wrong []string
	if len(name) > maxLabel {
		wrong = append(wrong, tooManyCharacters(maxLabel))
	}
	if !isLabel(name) {
		wrong = append(wrong, labelSentence(name))
	}
	return wrong
}

// labelSentence returns a shorter message for a valid subdomain.
func labelSentence(name string) string {
	if isSubdomain(name) {
		return "must not contain dots"
	}
	return pattern("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character", labelPattern, "my-name", "123-abc")
}

// PathSegment checks an element of a URL path, such as the name of a role. With prefix, more
// characters will follow it.
func PathSegment(name string, prefix bool) []string {
	if !prefix && (name == "." || name == "..") {
		return []string{"may not be '" + name + "'"}
	}
	var wrong []string
	for _, character := range []string{"/", "%"} {
		if strings.Contains(name, character) {
			wrong = append(wrong, "may not contain '"+character+"'")
		}
	}
	return wrong
}

// Qualified checks a key of a label or annotation, or a finalizer: "name" or "example.com/name".
func Qualified(name string) []string {
	const alphabet = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	examples := []string{"MyName", "my.name", "123-abc"}
	var wrong []string
	domain, local, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
		local = name
	case strings.Contains(local, "/"):
		return []string{"a valid label key " + pattern(alphabet, qualifiedPattern, examples...) + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case domain == "":
		wrong = append(wrong, "prefix part must be non-empty")
	default:
		if len(domain) > maxSubdomain {
			wrong = append(wrong, "prefix part "+tooLong(maxSubdomain))
		}
		if !isSubdomain(domain) {
			wrong = append(wrong, "prefix part "+subdomainSentence)
		}
	}
	if local == "" {
		wrong = append(wrong, "name part must be non-empty")
	} else if len(local) > maxLabel {
		wrong = append(wrong, "name part "+tooLong(maxLabel))
	}
	if !isQualifiedPart(local) {
		wrong = append(wrong, "name part "+pattern(alphabet, qualifiedPattern, examples...))
	}
	return wrong
}

func LabelValue(value string) []string {
	var wrong []string
	if len(value) > maxLabel {
		wrong = append(wrong, tooLong(maxLabel))
	}
	if value != "" && !isQualifiedPart(value) {
		wrong = append(wrong, pattern("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", labelValuePattern, "MyValue", "my_value", "12345"))
	}
	return wrong
}

// whole returns a function that reports whether a name matches the whole expression.
func whole(expression string) func(name string) bool {
	return regexp.MustCompile("^" + expression + "$").MatchString
}

var (
	isLabel         = whole(labelPattern)
	isSubdomain     = whole(subdomainPattern)
	isQualifiedPart = whole(qualifiedPattern)
)

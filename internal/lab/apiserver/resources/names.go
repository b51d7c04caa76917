package resources

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// tooLong is the message for a name that is too long. All limits are in bytes, although some
// messages say characters.
func tooLong(limit int, units string) string {
	return fmt.Sprintf("must be no more than %d %s", limit, units)
}

// pattern returns the message for a name that does not match regex.
func pattern(what, regex string, examples ...string) string {
	shown := ""
	if len(examples) > 0 {
		shown = "e.g. '" + strings.Join(examples, "',  or '") + "', "
	}
	return what + " (" + shown + "regex used for validation is '" + regex + "')"
}

var subdomainSentence = pattern("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "+
	"characters, '-' or '.', and must start and end with an alphanumeric character", subdomainPattern, "example.com")

// dnsSubdomain checks a lower-case DNS subdomain (RFC 1123): the names of most objects.
func dnsSubdomain(name string) []string {
	var wrong []string
	if len(name) > maxSubdomain {
		wrong = append(wrong, tooLong(maxSubdomain, "characters"))
	}
	if !isSubdomain(name) {
		wrong = append(wrong, subdomainSentence)
	}
	return wrong
}

// dnsLabel checks a lower-case DNS label (RFC 1123): the names of namespaces and containers.
func dnsLabel(name string) []string {
	var wrong []string
	if len(name) > maxLabel {
		wrong = append(wrong, tooLong(maxLabel, "characters"))
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
	return pattern("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "+
		"start and end with an alphanumeric character", labelPattern, "my-name", "123-abc")
}

// pathSegment checks an element of a URL path, such as the name of a role.
func pathSegment(name string) []string {
	if name == "." || name == ".." {
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

// qualifiedName checks a key of a label or annotation, or a finalizer: "name" or
// "example.com/name".
func qualifiedName(name string) []string {
	const alphabet = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
		"alphanumeric character"
	examples := []string{"MyName", "my.name", "123-abc"}
	var wrong []string
	domain, local, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
		local = name
	case strings.Contains(local, "/"):
		return []string{"a valid label key " + pattern(alphabet, qualifiedPattern, examples...) +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case domain == "":
		wrong = append(wrong, "prefix part must be non-empty")
	default:
		if len(domain) > maxSubdomain {
			wrong = append(wrong, "prefix part "+tooLong(maxSubdomain, "bytes"))
		}
		if !isSubdomain(domain) {
			wrong = append(wrong, "prefix part "+subdomainSentence)
		}
	}
	if local == "" {
		wrong = append(wrong, "name part must be non-empty")
	} else if len(local) > maxLabel {
		wrong = append(wrong, "name part "+tooLong(maxLabel, "bytes"))
	}
	if !isQualifiedPart(local) {
		wrong = append(wrong, "name part "+pattern(alphabet, qualifiedPattern, examples...))
	}
	return wrong
}

func labelValue(value string) []string {
	var wrong []string
	if len(value) > maxLabel {
		wrong = append(wrong, tooLong(maxLabel, "bytes"))
	}
	if value != "" && !isQualifiedPart(value) {
		wrong = append(wrong,
			pattern("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "+
				"and must start and end with an alphanumeric character", labelValuePattern, "MyValue", "my_value",
				"12345"))
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

// ownFormats validate the formats of definitions that JSON schema does not have, or has with
// another meaning.
var ownFormats = map[string]func(value any) error{
	"byte":     ofText(func(text string) error { _, err := base64.StdEncoding.DecodeString(text); return err }),
	"cidr":     ofText(func(text string) error { _, _, err := net.ParseCIDR(text); return err }),
	"duration": ofText(func(text string) error { _, err := time.ParseDuration(text); return err }),
	"int32": func(value any) error {
		if n, ok := value.(int64); ok && n != int64(int32(n)) {
			return errors.New("out of range")
		}
		return nil
	},
	"k8s-long-name":  ofText(func(text string) error { return noneOf(dnsSubdomain(text)) }),
	"k8s-short-name": ofText(func(text string) error { return noneOf(dnsLabel(text)) }),
	"mac":            ofText(func(text string) error { _, err := net.ParseMAC(text); return err }),
}

// otherFormats are those that JSON schema has, and those that every value of the type satisfies.
var otherFormats = []string{
	"", "date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "double", "float", "int64", "password",
}

func ofText(validate func(text string) error) func(value any) error {
	return func(value any) error {
		text, ok := value.(string)
		if !ok {
			return nil
		}
		return validate(text)
	}
}

func noneOf(sentences []string) error {
	if len(sentences) == 0 {
		return nil
	}
	return errors.New(sentences[0])
}

func knowsFormat(name string) bool {
	return ownFormats[name] != nil || slices.Contains(otherFormats, name)
}

// eachSchema calls visit for a schema and all objects inside it.
func eachSchema(value any, visit func(schema tree)) {
	switch v := value.(type) {
	case map[string]any:
		visit(v)
		for _, inner := range v {
			eachSchema(inner, visit)
		}
	case []any:
		for _, inner := range v {
			eachSchema(inner, visit)
		}
	}
}

// A resource quantity such as "500m", "64Mi" or "1e3" is a decimal number and a suffix. The server
// keeps it as it was written.

// The error messages of kube-apiserver.
var (
	errQuantityFormat = errors.New("quantities must match the regular expression " +
		"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	errQuantitySuffix = errors.New("unable to parse quantity's suffix")
)

var (
	// quantity matches a number, which may be absent as in kube-apiserver, and a suffix.
	quantity = regexp.MustCompile(`^[+-]?[0-9]*(?:\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)$`)
	suffix   = regexp.MustCompile(`^([numkMGTPE]?|[KMGTPE]i)$`)
)

func checkQuantity(text string) error {
	parts := quantity.FindStringSubmatch(text)
	if text == "" || parts == nil {
		return errQuantityFormat
	}
	if exponent := strings.TrimLeft(parts[1], "eE"); len(exponent) == len(parts[1])-1 && exponent != "" {
		if _, err := strconv.ParseInt(exponent, 10, 32); err == nil {
			return nil
		}
	}
	if !suffix.MatchString(parts[1]) {
		return errQuantitySuffix
	}
	return nil
}

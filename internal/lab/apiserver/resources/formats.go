package resources

import (
	"encoding/base64"
	"errors"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

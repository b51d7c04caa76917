package resources

import (
	"encoding/base64"
	"errors"
	"net"
	"slices"
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

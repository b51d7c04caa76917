package resources

import (
	"encoding/base64"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/meta"
)

// stringFormats report whether a string has a format, for the formats that definitions use. Their
// names are without hyphens, which are ignored.
var stringFormats = map[string]func(text string) bool{
	"uri":          func(text string) bool { _, err := url.ParseRequestURI(text); return err == nil },
	"email":        func(text string) bool { a, err := mail.ParseAddress(text); return err == nil && a.Address != "" },
	"hostname":     isHostname,
	"ipv4":         func(text string) bool { a, err := netip.ParseAddr(text); return err == nil && a.Is4() },
	"ipv6":         func(text string) bool { return net.ParseIP(text) != nil && strings.Contains(text, ":") },
	"cidr":         func(text string) bool { _, _, err := net.ParseCIDR(text); return err == nil },
	"mac":          func(text string) bool { _, err := net.ParseMAC(text); return err == nil },
	"uuid":         matches("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
	"byte":         func(text string) bool { _, err := base64.StdEncoding.DecodeString(text); return err == nil },
	"password":     func(string) bool { return true },
	"date":         func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil },
	"datetime":     isDateTime,
	"duration":     func(text string) bool { _, ok := parseDuration(text); return ok },
	"k8sshortname": func(text string) bool { return len(meta.Label(text)) == 0 },
	"k8slongname":  func(text string) bool { return len(meta.Subdomain(text)) == 0 },
}

func matches(expression string) func(string) bool { return regexp.MustCompile(expression).MatchString }

func (s *Schema) format() func(string) bool {
	return stringFormats[strings.ReplaceAll(s.Format, "-", "")]
}

// UnknownFormats returns the formats in a schema that are not supported.
func (s *Schema) UnknownFormats() []string {
	found := map[string]bool{}
	s.each(func(one *Schema) { found[one.unknownFormat] = true })
	delete(found, "")
	return sortedKeys(found)
}

// HasRules reports whether a schema has rules (x-kubernetes-validations), which are ignored.
func (s *Schema) HasRules() bool {
	has := false
	s.each(func(one *Schema) { has = has || one.Rules != nil })
	return has
}

// knowsFormat reports whether the format applies to the type. Other formats are ignored.
func (s *Schema) knowsFormat() bool {
	switch {
	case s.Format == "":
		return true
	case s.IntOrString, s.Type == "", s.Type == "string":
		return s.format() != nil
	case s.Type == "integer":
		return s.Format == "int32" || s.Format == "int64"
	case s.Type == "number":
		return s.Format == "float" || s.Format == "double"
	}
	return false
}

// hostname matches labels of letters, digits and hyphens; isHostname limits each to 63 bytes.
var hostname = regexp.MustCompile(`^([\p{L}\p{N}](-*[\p{L}\p{N}])*)(\.[\p{L}\p{N}](-*[\p{L}\p{N}])*)*\.?$`)

func isHostname(text string) bool {
	return len(text) <= 255 && hostname.MatchString(text) &&
		!slices.ContainsFunc(strings.Split(text, "."), func(label string) bool { return len(label) > 63 })
}

var dateTime = regexp.MustCompile(`(?i)^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}:\d{2}(\.\d+)?(z|[+-]\d{2}:\d{2})$`)

func isDateTime(text string) bool {
	_, ok := parseDateTime(text)
	return ok
}

func parseDateTime(text string) (time.Time, bool) {
	if !dateTime.MatchString(text) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text))
	return t, err == nil
}

// wordDuration is the alternative form of durations: "2 days".
var (
	wordDuration = regexp.MustCompile(`^\s*(\d+)\s*([A-Za-zµ]+)\s*$`)
	durationUnit = map[string]time.Duration{
		"ns": 1, "nano": 1, "nanosecond": 1, "us": time.Microsecond, "µs": time.Microsecond, "micro": time.Microsecond, "microsecond": time.Microsecond,
		"ms": time.Millisecond, "milli": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
		"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour,
		"d": 24 * time.Hour, "day": 24 * time.Hour, "w": 7 * 24 * time.Hour, "wk": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
	}
)

func parseDuration(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, true
	}
	parts := wordDuration.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	unit, known := durationUnit[parts[2]]
	if !known {
		unit, known = durationUnit[strings.TrimSuffix(parts[2], "s")]
	}
	count, err := time.ParseDuration(parts[1] + "ns")
	return count * unit, known && err == nil
}

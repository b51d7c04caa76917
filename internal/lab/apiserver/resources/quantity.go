package resources

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

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

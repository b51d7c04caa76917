package schema

import (
	"errors"
	"strconv"
	"strings"
)

// The sentences of kube-apiserver for amounts that it cannot read.
var (
	errQuantityFormat = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	errQuantitySuffix = errors.New("unable to parse quantity's suffix")
)

var quantitySuffixes = map[string]bool{"": true, "n": true, "u": true, "m": true, "k": true, "M": true, "G": true, "T": true, "P": true,
	"E": true, "Ki": true, "Mi": true, "Gi": true, "Ti": true, "Pi": true, "Ei": true}

// checkQuantity tells whether text is an amount: a decimal number and a suffix.
func checkQuantity(text string) error {
	if text == "" {
		return errQuantityFormat
	}
	suffix := withoutDigits(withoutSign(text))
	if fraction, ok := strings.CutPrefix(suffix, "."); ok {
		suffix = withoutDigits(fraction)
	}
	if withoutDigits(withoutSign(strings.TrimLeft(suffix, "eEinumkKMGTP"))) != "" {
		return errQuantityFormat
	}
	if quantitySuffixes[suffix] || isExponent(suffix) {
		return nil
	}
	return errQuantitySuffix
}

func isExponent(suffix string) bool {
	if !strings.HasPrefix(suffix, "e") && !strings.HasPrefix(suffix, "E") {
		return false
	}
	_, err := strconv.ParseInt(suffix[1:], 10, 32)
	return err == nil
}

func withoutSign(text string) string {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[1:]
	}
	return text
}

func withoutDigits(text string) string { return strings.TrimLeft(text, "0123456789") }

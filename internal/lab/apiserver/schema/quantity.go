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

// checkQuantity tells whether text is an amount: a decimal number and a suffix. As in the original the number may be missing.
func checkQuantity(text string) error {
	_, suffix := splitQuantity(text)
	_, isDecimal := decimalSuffixes[suffix]
	_, isBinary := binarySuffixes[suffix]
	switch {
	case text == "", withoutDigits(withoutSign(strings.TrimLeft(suffix, "eEinumkKMGTP"))) != "":
		return errQuantityFormat
	case isDecimal, isBinary, isExponent(suffix):
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

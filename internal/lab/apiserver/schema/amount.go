package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Amount is a resource quantity such as "500m", "64Mi" or "1e3": mantissa * 10^exponent, with the
// kind of suffix that it was written with.
type Amount struct {
	mantissa *big.Int
	exponent int
	sort     suffixSort
}

type suffixSort int

const (
	decimalSort     suffixSort = iota // k, M, G
	binarySort                        // Ki, Mi, Gi
	exponentialSort                   // e3, e6
)

// The suffixes. Decimal ones are three digits apart, binary ones ten bits.
var (
	decimalSuffixes = map[string]int{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
	decimalNames    = map[int]string{-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
	binarySuffixes  = map[string]uint{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
	binaryNames     = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

// The error messages of kube-apiserver. errQuantitySize never reaches a client.
var (
	errQuantityFormat = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	errQuantitySuffix = errors.New("unable to parse quantity's suffix")
	errQuantitySize   = errors.New("quantity out of range")
)

var (
	ten      = big.NewInt(10)
	thousand = big.NewInt(1000)
	kibi     = big.NewInt(1024)
)

// ParseAmount parses a quantity, which is a string or a number in a document.
func ParseAmount(value any) (Amount, bool) {
	switch v := value.(type) {
	case string:
		a, err := parseAmount(strings.TrimSpace(v))
		return a, err == nil
	case int64, float64, json.Number:
		a, err := parseAmount(fmt.Sprint(v))
		return a, err == nil
	}
	return Amount{}, false
}

// parseAmount parses a decimal number and a suffix. As in kube-apiserver the number may be absent.
func parseAmount(text string) (Amount, error) {
	suffix := withoutDigits(withoutSign(text))
	if fraction, ok := strings.CutPrefix(suffix, "."); ok {
		suffix = withoutDigits(fraction)
	}
	if text == "" || withoutDigits(withoutSign(strings.TrimLeft(suffix, "eEinumkKMGTP"))) != "" {
		return Amount{}, errQuantityFormat
	}
	whole, fraction, _ := strings.Cut(text[:len(text)-len(suffix)], ".")
	a := Amount{exponent: -len(fraction)}
	shift, isBinary := binarySuffixes[suffix]
	unit, isDecimal := decimalSuffixes[suffix]
	switch {
	case isBinary:
		a.sort = binarySort
	case isDecimal:
		a.exponent += unit
	case strings.HasPrefix(suffix, "e"), strings.HasPrefix(suffix, "E"):
		exponent, err := strconv.ParseInt(suffix[1:], 10, 32)
		if err != nil {
			return Amount{}, errQuantitySuffix
		}
		a.sort, a.exponent = exponentialSort, a.exponent+int(exponent)
	default:
		return Amount{}, errQuantitySuffix
	}
	if len(whole)+len(fraction) > 64 || a.exponent > 1000 || a.exponent < -1000 {
		return Amount{}, errQuantitySize
	}
	a.mantissa, _ = new(big.Int).SetString(strings.TrimPrefix(whole+fraction, "+"), 10)
	if a.mantissa == nil {
		a.mantissa = new(big.Int) // "Mi" alone is zero
	}
	a.mantissa.Lsh(a.mantissa, shift)
	return a, nil
}

func withoutSign(text string) string {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[1:]
	}
	return text
}

func withoutDigits(text string) string { return strings.TrimLeft(text, "0123456789") }

// Cmp compares two amounts and returns -1, 0 or 1.
func (a Amount) Cmp(b Amount) int {
	lowest := min(a.exponent, b.exponent)
	return a.at(lowest).Cmp(b.at(lowest))
}

// at returns the mantissa for an exponent that is not larger than a's.
func (a Amount) at(exponent int) *big.Int {
	return new(big.Int).Mul(a.mantissa, power(a.exponent-exponent))
}

func power(exponent int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(exponent)), nil) }

// Rounded returns the amount rounded away from zero to a multiple of 10^exponent.
func (a Amount) Rounded(exponent int) Amount {
	if a.exponent >= exponent {
		return a
	}
	whole, rest := new(big.Int).QuoRem(a.mantissa, power(exponent-a.exponent), new(big.Int))
	if rest.Sign() != 0 {
		whole.Add(whole, big.NewInt(int64(rest.Sign())))
	}
	return Amount{mantissa: whole, exponent: exponent, sort: a.sort}
}

// String returns the canonical form: without a fraction, in the largest unit of its suffix kind in
// which it is an integer. 0.5 becomes 500m, 1000m becomes 1, 1024Mi becomes 1Gi. Anything below 1n
// is rounded up to 1n.
func (a Amount) String() string {
	if a.sort == binarySort {
		if text, ok := a.binary(); ok {
			return text
		}
		a.sort = decimalSort
	}
	if a.mantissa.Sign() == 0 {
		return "0"
	}
	a = a.Rounded(-9)
	mantissa, exponent, isDecimal := a.mantissa, a.exponent, a.sort == decimalSort
	for exponent%3 != 0 || isDecimal && exponent > 18 {
		mantissa = new(big.Int).Mul(mantissa, ten)
		exponent--
	}
	for exponent < 18 || !isDecimal {
		smaller, rest := new(big.Int).QuoRem(mantissa, thousand, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		mantissa, exponent = smaller, exponent+3
	}
	switch {
	case isDecimal:
		return mantissa.String() + decimalNames[exponent]
	case exponent == 0:
		return mantissa.String()
	}
	return mantissa.String() + "e" + strconv.Itoa(exponent)
}

// binary formats the amount with a binary suffix. It returns false if the amount is not an integer
// or is less than 1Ki.
func (a Amount) binary() (string, bool) {
	whole, rest := new(big.Int).QuoRem(a.mantissa, power(-a.exponent), new(big.Int))
	if rest.Sign() != 0 || whole.CmpAbs(kibi) < 0 {
		return "", false
	}
	if !whole.IsInt64() { // kube-apiserver caps it
		return strconv.FormatInt(math.MaxInt64*int64(whole.Sign()), 10), true
	}
	unit := 0
	for ; unit < len(binaryNames)-1; unit++ {
		larger, rest := new(big.Int).QuoRem(whole, kibi, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		whole = larger
	}
	return whole.String() + binaryNames[unit], true
}

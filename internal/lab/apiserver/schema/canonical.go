package schema

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The suffixes of amounts. Those of the decimal sort are three digits apart, the binary ones ten bits.
var (
	decimalSuffixes = map[string]int{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
	decimalNames    = map[int]string{-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
	binarySuffixes  = map[string]uint{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
	binaryNames     = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

var (
	ten      = big.NewInt(10)
	thousand = big.NewInt(1000)
	kibi     = big.NewInt(1024)
)

// canonicalQuantity writes an amount as kube-apiserver stores it: without a fraction, in the largest unit of its sort in which it
// is whole. 0.5 is 500m, 1000m is 1, 1024Mi is 1Gi. The text must be an amount.
func canonicalQuantity(text string) string {
	digits, suffix := splitQuantity(strings.TrimSpace(text))
	if len(digits) > 64 {
		return text // nobody means this
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	mantissa, _ := new(big.Int).SetString(withoutPlus(whole+fraction), 10)
	if mantissa == nil {
		mantissa = new(big.Int) // "Mi" is nothing of it
	}
	exponent := -len(fraction)
	if shift, ok := binarySuffixes[suffix]; ok {
		return binaryQuantity(mantissa.Lsh(mantissa, shift), exponent)
	}
	name := func(exponent int) string { return decimalNames[exponent] }
	if unit, ok := decimalSuffixes[suffix]; ok {
		exponent += unit
	} else {
		unit, _ := strconv.Atoi(suffix[1:])
		if unit > 1000 || unit < -1000 {
			return text
		}
		exponent += unit
		name = func(exponent int) string {
			if exponent == 0 {
				return ""
			}
			return "e" + strconv.Itoa(exponent)
		}
	}
	return decimalQuantity(mantissa, exponent, name)
}

// splitQuantity separates the number from the suffix.
func splitQuantity(text string) (digits, suffix string) {
	suffix = withoutDigits(withoutSign(text))
	if fraction, ok := strings.CutPrefix(suffix, "."); ok {
		suffix = withoutDigits(fraction)
	}
	return text[:len(text)-len(suffix)], suffix
}

func withoutPlus(digits string) string { return strings.TrimPrefix(digits, "+") }

// binaryQuantity writes mantissa * 10^exponent in units of 1024. What is no whole number, or less than one of them, is
// written in decimal units.
func binaryQuantity(mantissa *big.Int, exponent int) string {
	whole, rest := new(big.Int).QuoRem(mantissa, power(-exponent), new(big.Int))
	if rest.Sign() != 0 || whole.CmpAbs(kibi) < 0 {
		return decimalQuantity(mantissa, exponent, func(exponent int) string { return decimalNames[exponent] })
	}
	if !whole.IsInt64() { // more than there can be
		return strconv.FormatInt(math.MaxInt64*int64(whole.Sign()), 10)
	}
	unit := 0
	for ; unit < len(binaryNames)-1; unit++ {
		larger, rest := new(big.Int).QuoRem(whole, kibi, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		whole = larger
	}
	return whole.String() + binaryNames[unit]
}

// decimalQuantity writes mantissa * 10^exponent in units of 1000. What is less than a billionth is rounded up to one.
func decimalQuantity(mantissa *big.Int, exponent int, name func(int) string) string {
	if mantissa.Sign() == 0 {
		return "0"
	}
	if exponent < -9 {
		var rest *big.Int
		mantissa, rest = new(big.Int).QuoRem(mantissa, power(-9-exponent), new(big.Int))
		if rest.Sign() != 0 {
			mantissa.Add(mantissa, big.NewInt(int64(rest.Sign())))
		}
		exponent = -9
	}
	for exponent%3 != 0 || exponent > 18 && name(18) == "E" {
		mantissa = new(big.Int).Mul(mantissa, ten)
		exponent--
	}
	for exponent < 18 || name(18) != "E" {
		smaller, rest := new(big.Int).QuoRem(mantissa, thousand, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		mantissa, exponent = smaller, exponent+3
	}
	return mantissa.String() + name(exponent)
}

func power(exponent int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(exponent)), nil) }

package resources

import (
	"math/big"
	"strings"
)

// quantity is an amount of a resource: "500m", "64Mi", "1e3".
type quantity struct {
	value *big.Rat
	// binary tells whether it was written with one of the suffixes that are powers of two.
	binary bool
	// exponent tells whether it was written as a number with an exponent.
	exponent bool
}

var binarySuffixes = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// decimalSuffixes start at 10^-9, in steps of a thousand.
var decimalSuffixes = []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}

// parseQuantity reads a quantity as a document has it: a string, or a whole number.
func parseQuantity(value any) (quantity, bool) {
	switch v := value.(type) {
	case int64:
		return quantity{value: new(big.Rat).SetInt64(v)}, true
	case string:
		return parseQuantityText(v)
	}
	return quantity{}, false
}

func parseQuantityText(text string) (quantity, bool) {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	digits, unit := text[:end], text[end:]
	q := quantity{}
	if len(digits) > 40 || digits == "" {
		return q, false
	}
	q.exponent = strings.ContainsAny(digits, "eE")
	number, ok := new(big.Rat).SetString(digits)
	if !ok {
		return q, false
	}
	for i, binary := range binarySuffixes {
		if unit == binary {
			if q.exponent {
				return q, false
			}
			q.binary = true
			q.value = number.Mul(number, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*(i+1)))))
			return q, true
		}
	}
	for i, decimal := range decimalSuffixes {
		if unit == decimal {
			q.value = number.Mul(number, thousandTo(i-3))
			return q, !q.exponent || unit == ""
		}
	}
	return q, false
}

func thousandTo(power int) *big.Rat {
	abs := max(power, -power)
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(1000), big.NewInt(int64(abs)), nil))
	if power < 0 {
		return scale.Inv(scale)
	}
	return scale
}

// smallest is the unit that amounts are rounded up to, as a power of a thousand: nothing is smaller than a thousandth.
const smallest = -1

// String writes the quantity in its canonical form: a whole number with the largest suffix that keeps it whole, binary
// if it was written so and is a multiple of 1024.
func (q quantity) String() string {
	if q.value.Sign() == 0 {
		return "0"
	}
	if q.binary && q.value.IsInt() && new(big.Int).And(q.value.Num(), big.NewInt(1023)).Sign() == 0 {
		return q.binaryString()
	}
	for power := 6; power >= smallest; power-- {
		scaled := new(big.Rat).Quo(q.value, thousandTo(power))
		if scaled.IsInt() || power == smallest {
			return ceiling(scaled).String() + q.unit(power)
		}
	}
	return ""
}

func (q quantity) unit(power int) string {
	if q.exponent {
		if power == 0 {
			return ""
		}
		return "e" + big.NewInt(int64(3*power)).String()
	}
	return decimalSuffixes[power+3]
}

func (q quantity) binaryString() string {
	number := new(big.Int).Set(q.value.Num())
	unit := ""
	for _, binary := range binarySuffixes {
		if new(big.Int).And(number, big.NewInt(1023)).Sign() != 0 {
			break
		}
		number.Rsh(number, 10)
		unit = binary
	}
	return number.String() + unit
}

// ceiling rounds away from zero.
func ceiling(r *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		whole.Add(whole, big.NewInt(int64(r.Sign())))
	}
	return whole
}

// canonicalQuantity returns the value in its canonical form, or as it is if it cannot be read.
func canonicalQuantity(value any) any {
	if q, ok := parseQuantity(value); ok {
		return q.String()
	}
	return value
}

// compareQuantities compares two quantities; false if one cannot be read.
func compareQuantities(a, b any) (int, bool) {
	left, ok := parseQuantity(a)
	right, also := parseQuantity(b)
	if !ok || !also {
		return 0, false
	}
	return left.value.Cmp(right.value), true
}

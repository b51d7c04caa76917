package structural

import (
	"math"

	"orrery/internal/lab/apiserver/apierrors"
)

func (v validator) number(s *Schema, name string, value any, n float64) (r result) {
	w, isInt := value.(int64)
	if s.Type == "integer" && !s.IntOrString {
		r.merge(v.inRange(s, name, n, isInt))
	}
	limit := func(bound float64) any { // integers are compared with integers
		if isInt {
			return int64(bound)
		}
		return bound
	}
	if s.MultipleOf != nil {
		factor := limit(*s.MultipleOf)
		switch f := factor.(type) {
		case int64:
			if f <= 0 {
				r.add(apierrors.FieldInvalid, v.field(name), f, "factor MultipleOf declared for %s must be positive: %v", name, f)
			} else if w%f != 0 {
				v.invalid(&r, name, value, "should be a multiple of %v", f)
			}
		case float64:
			if f <= 0 {
				r.add(apierrors.FieldInvalid, v.field(name), f, "factor MultipleOf declared for %s must be positive: %v", name, f)
			} else if !isWhole(n / f) {
				v.invalid(&r, name, value, "should be a multiple of %v", f)
			}
		}
	}
	if s.Minimum != nil {
		if low := compare(value, limit(*s.Minimum)); low < 0 || low == 0 && s.ExclusiveMinimum {
			v.invalid(&r, name, value, "should be greater than %s%v", orEqual(s.ExclusiveMinimum), limit(*s.Minimum))
		}
	}
	if s.Maximum != nil {
		if high := compare(value, limit(*s.Maximum)); high > 0 || high == 0 && s.ExclusiveMaximum {
			v.invalid(&r, name, value, "should be less than %s%v", orEqual(s.ExclusiveMaximum), limit(*s.Maximum))
		}
	}
	r.matched += 2
	return r
}

// inRange checks that the value is an integer and fits its format.
func (v validator) inRange(s *Schema, name string, n float64, isInt bool) (r result) {
	fits := isInt || n == math.Trunc(n)
	if s.Format == "int32" && fits {
		fits = n >= math.MinInt32 && n <= math.MaxInt32
	}
	switch {
	case fits:
	case s.Format != "":
		v.about(&r, "Checked value must be of type %s with format %s in %s", s.Type, s.Format, name)
	default:
		v.about(&r, "Checked value must be of type %s (default format) in %s", s.Type, name)
	}
	return r
}

func compare(a, b any) int {
	switch left := a.(type) {
	case int64:
		right := b.(int64)
		return boolToInt(left > right) - boolToInt(left < right)
	case float64:
		right := b.(float64)
		return boolToInt(left > right) - boolToInt(left < right)
	}
	return 0
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func orEqual(exclusive bool) string {
	if exclusive {
		return ""
	}
	return "or equal to "
}

// isWhole reports whether f is an integer up to rounding errors.
func isWhole(f float64) bool {
	const largest, tolerance = 1<<53 - 1, 1e-9
	if math.IsNaN(f) || math.Abs(f) > largest {
		return false
	}
	rest := math.Abs(f - math.Round(f))
	return rest == 0 || rest/(2*math.Abs(f)) < tolerance
}

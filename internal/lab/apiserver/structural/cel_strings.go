package structural

import (
	"fmt"
	"net/netip"
	"net/url"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"orrery/internal/lab/apiserver/schema"
)

// In these rules URLs, addresses, CIDRs and quantities are strings. kube-apiserver has CEL types
// for them.

var oneText, twoTexts = []*cel.Type{cel.StringType}, []*cel.Type{cel.StringType, cel.StringType}

// textFunction returns a function of one string.
func textFunction(name string, result *cel.Type, call func(text string) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.Overload("orrery_"+name, oneText, result, cel.UnaryBinding(func(value ref.Val) ref.Val {
		return call(string(value.(types.String)))
	})))
}

// readable returns two functions: isName reports whether a string can be parsed, and name returns
// it.
func readable[T any](is, name string, read func(text string) (T, error), wrong string) library {
	return library{
		textFunction(is, cel.BoolType, func(text string) ref.Val {
			_, err := read(text)
			return types.Bool(err == nil)
		}),
		textFunction(name, cel.StringType, func(text string) ref.Val {
			if _, err := read(text); err != nil {
				return types.NewErr(wrong, err)
			}
			return types.String(text)
		}),
	}
}

// question returns a method of a string that it parses first.
func question[T any](name string, result *cel.Type, read func(text string) (T, error), answer func(T) ref.Val) cel.EnvOption {
	return method(name, oneText, result, func(a ...ref.Val) ref.Val {
		value, err := read(string(a[0].(types.String)))
		if err != nil {
			return types.WrapErr(err)
		}
		return answer(value)
	})
}

// relation returns a method of two strings that it parses first.
func relation[A, B any](name string, result *cel.Type, readA func(string) (A, error), readB func(string) (B, error), answer func(A, B) ref.Val) cel.EnvOption {
	return method(name, twoTexts, result, func(arguments ...ref.Val) ref.Val {
		a, err := readA(string(arguments[0].(types.String)))
		if err != nil {
			return types.WrapErr(err)
		}
		b, err := readB(string(arguments[1].(types.String)))
		if err != nil {
			return types.WrapErr(err)
		}
		return answer(a, b)
	})
}

func urls() cel.EnvOption {
	all := readable("isURL", "url", url.ParseRequestURI, "URL parse error during conversion from string: %v")
	for name, part := range map[string]func(*url.URL) string{
		"getScheme": func(u *url.URL) string { return u.Scheme }, "getHost": func(u *url.URL) string { return u.Host },
		"getHostname": (*url.URL).Hostname, "getPort": (*url.URL).Port, "getEscapedPath": (*url.URL).EscapedPath,
	} {
		all = append(all, question(name, cel.StringType, url.ParseRequestURI, func(u *url.URL) ref.Val { return types.String(part(u)) }))
	}
	return cel.Lib(all)
}

func parseAddress(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return address, fmt.Errorf("IP Address %q parse error during conversion from string: %v", text, err)
	case address.Zone() != "":
		return address, fmt.Errorf("IP address %q with zone value is not allowed", text)
	case address.Is4In6():
		return address, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", text)
	}
	return address, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("network address parse error during conversion from string: %v", err)
	}
	return prefix, nil
}

func addresses() cel.EnvOption {
	all := append(readable("isIP", "ip", parseAddress, "%v"), readable("isCIDR", "cidr", parsePrefix, "network address parse error during conversion from string: %v")...)
	for name, is := range map[string]func(netip.Addr) bool{
		"isUnspecified": netip.Addr.IsUnspecified, "isLoopback": netip.Addr.IsLoopback, "isLinkLocalMulticast": netip.Addr.IsLinkLocalMulticast,
		"isLinkLocalUnicast": netip.Addr.IsLinkLocalUnicast, "isGlobalUnicast": netip.Addr.IsGlobalUnicast,
	} {
		all = append(all, question(name, cel.BoolType, parseAddress, func(a netip.Addr) ref.Val { return types.Bool(is(a)) }))
	}
	return cel.Lib(append(all,
		textFunction("ip.isCanonical", cel.BoolType, func(text string) ref.Val {
			address, err := parseAddress(text)
			return types.Bool(err == nil && address.String() == text)
		}),
		question("family", cel.IntType, parseAddress, func(a netip.Addr) ref.Val {
			if a.Is4() {
				return types.Int(4)
			}
			return types.Int(6)
		}),
		question("prefixLength", cel.IntType, parsePrefix, func(p netip.Prefix) ref.Val { return types.Int(p.Bits()) }),
		question("masked", cel.StringType, parsePrefix, func(p netip.Prefix) ref.Val { return types.String(p.Masked().String()) }),
		question("ip", cel.StringType, parsePrefix, func(p netip.Prefix) ref.Val { return types.String(p.Addr().String()) }),
		relation("containsIP", cel.BoolType, parsePrefix, parseAddress, func(p netip.Prefix, a netip.Addr) ref.Val { return types.Bool(p.Contains(a)) }),
		relation("containsCIDR", cel.BoolType, parsePrefix, parsePrefix, func(p, q netip.Prefix) ref.Val {
			return types.Bool(p.Bits() <= q.Bits() && p.Overlaps(q))
		}),
	))
}

func parseAmount(text string) (schema.Amount, error) {
	amount, ok := schema.ParseAmount(text)
	if !ok {
		return amount, fmt.Errorf("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	}
	return amount, nil
}

func amounts() cel.EnvOption {
	order := func(name string, result *cel.Type, answer func(order int) ref.Val) cel.EnvOption {
		return relation(name, result, parseAmount, parseAmount, func(a, b schema.Amount) ref.Val { return answer(a.Cmp(b)) })
	}
	return cel.Lib(append(readable("isQuantity", "quantity", parseAmount, "%v"),
		order("isGreaterThan", cel.BoolType, func(order int) ref.Val { return types.Bool(order > 0) }),
		order("isLessThan", cel.BoolType, func(order int) ref.Val { return types.Bool(order < 0) }),
		order("compareTo", cel.IntType, func(order int) ref.Val { return types.Int(order) }),
	))
}

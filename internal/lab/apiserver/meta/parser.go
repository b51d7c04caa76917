package meta

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const special = "=!(),><"

// tokens matches the tokens of a selector: symbols, and words of all other characters.
var tokens = regexp.MustCompile(`==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+`)

// parser has the tokens of a label selector that are not yet read:
//
//	selector    = [ requirement { "," requirement } ]
//	requirement = "!" key | key [ operator value | ("in"|"notin") "(" [ value { "," value } ] ")" ]
type parser []string

// peek returns the next token, which is "" at the end.
func (p parser) peek() string {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}

// next consumes a token.
func (p *parser) next() string {
	token := p.peek()
	*p = (*p)[min(1, len(*p)):]
	return token
}

func isWord(token string) bool { return token != "" && !strings.ContainsAny(token[:1], special) }

func parseRequirements(text string) ([]LabelRequirement, error) {
	p := parser(tokens.FindAllString(text, -1))
	first := p.peek()
	if first == "" {
		return nil, nil
	}
	if !isWord(first) && first != "!" {
		return nil, fmt.Errorf("found '%s', expected: !, identifier, or 'end of string'", first)
	}
	var requirements []LabelRequirement
	for {
		requirement, err := p.requirement()
		if err != nil {
			return nil, fmt.Errorf("unable to parse requirement: %w", err)
		}
		requirements = append(requirements, requirement)
		switch separator := p.next(); separator {
		case "":
			return requirements, nil
		case ",":
		default:
			return nil, fmt.Errorf("found '%s', expected: ',' or 'end of string'", separator)
		}
		if following := p.peek(); !isWord(following) && following != "!" {
			return nil, fmt.Errorf("found '%s', expected: identifier after ','", following)
		}
	}
}

func (p *parser) requirement() (LabelRequirement, error) {
	r := LabelRequirement{Operator: Exists, Key: p.next()}
	if r.Key == "!" {
		r = LabelRequirement{Operator: DoesNotExist, Key: p.next()}
	}
	if !isWord(r.Key) {
		return r, fmt.Errorf("found '%s', expected: identifier", r.Key)
	}
	if err := checkKey(r.Key); err != nil {
		return r, err
	}
	following := p.peek()
	if r.Operator == DoesNotExist || following == "" || following == "," {
		return r, nil
	}
	operator, known := operators[p.next()]
	if !known {
		return r, fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", following)
	}
	r.Operator = operator
	parse := p.value
	if operator == In || operator == NotIn {
		parse = p.values
	}
	values, err := parse()
	if err != nil {
		return r, err
	}
	slices.Sort(values)
	r.Values = slices.Compact(values)
	return r, r.check()
}

var operators = map[string]Operator{
	"=": Equals, "==": Equals, "!=": NotEquals, ">": GreaterThan, "<": LessThan, "in": In, "notin": NotIn,
}

// value parses one value, which may be empty.
func (p *parser) value() ([]string, error) {
	if following := p.peek(); following == "" || following == "," {
		return []string{""}, nil
	}
	value := p.next()
	if !isWord(value) {
		return nil, fmt.Errorf("found '%s', expected: identifier", value)
	}
	return []string{value}, nil
}

// values parses a list in parentheses, whose values may be empty.
func (p *parser) values() ([]string, error) {
	if open := p.next(); open != "(" {
		return nil, fmt.Errorf("found '%s' expected: '('", open)
	}
	if first := p.peek(); !isWord(first) && first != "," && first != ")" {
		return nil, fmt.Errorf("found '%s', expected: ',', ')' or identifier", first)
	}
	var values []string
	for {
		switch following := p.peek(); {
		case isWord(following):
			values = append(values, p.next())
		case following == "," || following == ")":
			values = append(values, "")
		default:
			return nil, fmt.Errorf("found '%s', expected: ',', or identifier", following)
		}
		switch separator := p.next(); separator {
		case ")":
			return values, nil
		case ",":
		default:
			return nil, fmt.Errorf("found '%s', expected: ',' or ')'", separator)
		}
	}
}

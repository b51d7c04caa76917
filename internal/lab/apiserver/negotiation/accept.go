package negotiation

import (
	"cmp"
	"mime"
	"slices"
	"strconv"
	"strings"
)

// maxClauses bounds how much of an Accept header is read. No client needs as many.
const maxClauses = 32

// clause is one of the media types of an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
	weight    float64
}

// parseAccept reads a header, best first. Clauses that cannot be read count for nothing.
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		if len(clauses) == maxClauses {
			break
		}
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, given := params["q"]; given {
			if parsed, err := strconv.ParseFloat(q, 64); err == nil {
				weight = parsed
			}
		}
		clauses = append(clauses, clause{mediaType: mediaType, params: params, weight: weight})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.weight, a.weight) })
	return clauses
}

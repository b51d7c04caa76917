package api

// EachClass walks the classification table; usual is true for the reason that a code means when it comes alone.
func EachClass(visit func(reason StatusReason, code int, usual bool)) {
	for _, row := range classification {
		visit(row.reason, row.code, ReasonForCode(row.code, false) == row.reason)
	}
}

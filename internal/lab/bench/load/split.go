package load

// Split divides total items into parts as evenly as it goes and returns the indexes of one part: from, up to but not
// including to. The parts follow each other without a gap.
func Split(total, parts, part int) (from, to int) {
	return total * part / parts, total * (part + 1) / parts
}

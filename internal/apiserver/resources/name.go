package resources

// NameRule checks a name: it returns what is wrong with it, one sentence for each mistake. With prefix the name is one
// that a server will append characters to (metadata.generateName).
type NameRule func(name string, prefix bool) []string

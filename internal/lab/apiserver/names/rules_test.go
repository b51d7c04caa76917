package names

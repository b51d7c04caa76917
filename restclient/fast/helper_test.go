package fast

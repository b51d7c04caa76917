module orrery

go 1.26

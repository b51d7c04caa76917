//go:build !unix

package main

func ignoreSuspend() {} // a console has no Ctrl-Z

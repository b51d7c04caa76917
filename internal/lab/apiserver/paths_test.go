package apiserver

package faults

import "orrery/restclient/api"

// Forbidden returns the refusal of RBAC for a request, for whoever has other reasons for it than a fault.
func Forbidden(r Request) *api.StatusError { return refuseForbidden(r) }

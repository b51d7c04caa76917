package resources

import (
	"orrery/restclient/api"
)

// customDefinitions makes the definitions of a custom resource, one for each served version, in the order of
// preference.
func customDefinitions(crd *api.Unstructured) ([]*Definition, error) {
	return nil, nil
}

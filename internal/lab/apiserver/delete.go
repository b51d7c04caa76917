package apiserver

import (
	"encoding/json"
	"net/http"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func (x *exchange) serveDelete(t registry.Target, r representation) error {
	options, err := x.deleteOptions()
	if err != nil {
		return err
	}
	last, gone, err := x.server.registry.Delete(x.r.Context(), t, options, x.writeOptions(writeParameters{}))
	if err != nil {
		return err
	}
	if gone && !showsDeleted[t.Definition.Resource()] {
		x.sendDocument(http.StatusOK, encodeStatus(api.Status{Status: api.StatusSuccess, Details: &api.StatusDetails{
			Name: last.Key.Name, Group: t.Definition.Group, Kind: t.Definition.Plural, UID: last.UID,
		}}))
		return nil
	}
	return x.sendObject(http.StatusOK, r, last)
}

// showsDeleted are the resources whose DELETE returns the last state. Others return a Status,
// unless the deletion is pending.
var showsDeleted = map[api.GroupVersionResource]bool{
	api.NamespacesResource:                              true,
	api.PodsResource:                                    true,
	{Version: "v1", Resource: "services"}:               true,
	{Version: "v1", Resource: "resourcequotas"}:         true,
	{Version: "v1", Resource: "serviceaccounts"}:        true,
	{Version: "v1", Resource: "persistentvolumeclaims"}: true,
}

// serveDeleteCollection answers with the list of the objects that it deletes.
func (x *exchange) serveDeleteCollection(t registry.Target, r representation) error {
	selection, err := listOptions(x.query)
	if err != nil {
		return err
	}
	options, err := x.deleteOptions()
	if err != nil {
		return err
	}
	page, err := x.server.registry.DeleteCollection(x.r.Context(), t, options, selection,
		x.writeOptions(writeParameters{}))
	if err != nil {
		return err
	}
	return x.sendPage(r, page)
}

// wireDeleteOptions are DeleteOptions as transmitted.
type wireDeleteOptions struct {
	GracePeriodSeconds *int64             `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *api.Preconditions `json:"preconditions,omitempty"`
	OrphanDependents   *bool              `json:"orphanDependents,omitempty"`
	PropagationPolicy  *string            `json:"propagationPolicy,omitempty"`
	DryRun             []string           `json:"dryRun,omitempty"`
}

// deleteOptions reads the options from the body, or else from the query.
func (x *exchange) deleteOptions() (api.DeleteOptions, error) {
	wire, err := x.deleteBody()
	if err == nil && wire == nil {
		wire, err = x.deleteQuery()
	}
	if err != nil {
		return api.DeleteOptions{}, err
	}
	return wire.check()
}

// deleteBody reads the options from the body. It returns nil if there is none.
func (x *exchange) deleteBody() (*wireDeleteOptions, error) {
	body, err := x.readBody()
	if err != nil || len(body) == 0 {
		return nil, err
	}
	inProtobuf, err := isProtobuf(x.r.Header)
	if err != nil {
		return nil, err
	}
	document, err := parseDocument(body, inProtobuf, "DeleteOptions")
	if err != nil {
		return nil, err
	}
	if kind := document.GetKind(); kind != "" && kind != "DeleteOptions" {
		return nil, resources.BadRequest("the body is of the kind " + kind + ", not DeleteOptions")
	}
	return optionsOf(document.Object)
}

func optionsOf(tree map[string]any) (*wireDeleteOptions, error) {
	data, err := json.Marshal(tree)
	wire := &wireDeleteOptions{}
	if err == nil {
		err = json.Unmarshal(data, wire)
	}
	if err != nil {
		return nil, resources.BadRequest(err.Error())
	}
	return wire, nil
}

// deleteQuery reads the options from the query.
func (x *exchange) deleteQuery() (*wireDeleteOptions, error) {
	grace, err := number(x.query, "gracePeriodSeconds")
	if err != nil {
		return nil, err
	}
	wire := &wireDeleteOptions{GracePeriodSeconds: grace, DryRun: x.query["dryRun"]}
	if x.query.Has("orphanDependents") {
		wire.OrphanDependents = new(flag(x.query, "orphanDependents"))
	}
	if x.query.Has("propagationPolicy") {
		wire.PropagationPolicy = new(x.query.Get("propagationPolicy"))
	}
	return wire, nil
}

// check converts the options for the registry and refuses contradictions.
func (wire *wireDeleteOptions) check() (api.DeleteOptions, error) {
	options := api.DeleteOptions{GracePeriodSeconds: wire.GracePeriodSeconds, Preconditions: wire.Preconditions}
	var wrong resources.Errors
	if wire.OrphanDependents != nil {
		options.PropagationPolicy = api.DeletePropagationBackground
		if *wire.OrphanDependents {
			options.PropagationPolicy = api.DeletePropagationOrphan
		}
	}
	if wire.PropagationPolicy != nil {
		options.PropagationPolicy = api.DeletePropagation(*wire.PropagationPolicy)
		if wire.OrphanDependents != nil {
			wrong.Invalid("propagationPolicy", *wire.PropagationPolicy,
				"orphanDependents and deletionPropagation cannot be both set")
		}
		switch options.PropagationPolicy {
		case api.DeletePropagationForeground, api.DeletePropagationBackground, api.DeletePropagationOrphan:
		default:
			wrong.Add(resources.FieldNotSupported, "propagationPolicy", *wire.PropagationPolicy,
				`supported values: "Foreground", "Background", "Orphan", "nil"`)
		}
	}
	options.DryRun = dryRun(wire.DryRun, &wrong)
	if len(wrong) > 0 {
		return api.DeleteOptions{}, resources.Invalid("meta.k8s.io", "DeleteOptions", "", wrong)
	}
	return options, nil
}

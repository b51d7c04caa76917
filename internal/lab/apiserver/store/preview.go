package store

// Preview returns the object that a draft would become, without storing it anywhere: what a dry run answers. Version 0
// leaves the resource version out, for an object that has never had one.
func Preview(d Draft, version uint64) (*Object, error) {
	var object *Object
	err := withEncoded(d, func(e *encodedDraft) error {
		object = newObject(e, version)
		return nil
	})
	if err != nil || version != 0 {
		return object, err
	}
	// The member is cut out together with the comma behind it: metadata always has a name as well.
	rest := object.body[object.restStart+uint32(len(`",`)):]
	object.body = append([]byte(bodyStart+"{"), rest...)
	cut := object.restStart + uint32(len(`",`)) - uint32(len(bodyStart+"{"))
	object.metadataEnd -= cut
	object.restStart = uint32(len(bodyStart + "{"))
	return object, nil
}

// At returns the same content with another version: of an object that leaves a selection a watcher is sent the last state
// that was in it, with the version of the write that moved it out.
func (o *Object) At(version uint64) *Object { return o.at(version) }

package stage

import "strings"

// input records that the script acts on the server or starts a part of the process. Name and arguments say all that is
// needed to do it again: a recording has effects and inputs.
func (s *Stage) input(name string, arguments ...string) {
	if s.config.Recorder != nil {
		s.config.Recorder.Input(name, strings.Join(arguments, " "))
	}
}

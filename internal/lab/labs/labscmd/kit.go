package labscmd

import (
	"path/filepath"
	"strings"

	"orrery/internal/lab/labs/bundle"
)

// kit compares the folder with the kit that it was unpacked from.
func (c *checkup) kit(kit *bundle.Kit) {
	if kit == nil {
		c.add("kit", false, false, "doctor-no-kit")
		return
	}
	missing, changed, err := kit.Differences(c.folder.Repository, "")
	switch {
	case err != nil:
		c.add("kit", false, false, "doctor-kit-bad", err)
	case len(missing)+len(changed) > 0:
		c.add("kit", false, false, "doctor-kit-differs", some(append(missing, changed...)))
	default:
		c.add("kit", true, false, "doctor-kit", kit.Version, len(kit.Files))
	}
	archives, err := filepath.Glob(filepath.Join(c.folder.Repository, bundle.Folder, "go", "*"))
	if err != nil || len(archives) == 0 {
		c.add("kit: go", false, true, "doctor-kit-no-go")
		return
	}
	for i, archive := range archives {
		archives[i] = filepath.Base(archive)
	}
	c.add("kit: go", true, true, "doctor-kit-go", strings.Join(archives, ", "))
}

// some returns the first of many names.
func some(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

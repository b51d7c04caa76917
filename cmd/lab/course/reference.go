package course

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"orrery/internal/lab/course/bundle"
)

// reference checks that the pages of the labs are as they were published: as git or the kit has
// them. "lab test" says when a page is newer than the one with which its lab was started.
func (c *checkup) reference(ctx context.Context, kit *bundle.Kit) {
	edited := c.editedPages(ctx, kit)
	switch {
	case len(edited) > 0 && kit != nil:
		c.add("reference", false, false, "doctor-reference-kit", strings.Join(edited, " "))
	case len(edited) > 0:
		c.add("reference", false, false, "doctor-reference-bad", strings.Join(edited, " "))
	default:
		c.add("reference", true, false, "doctor-reference")
	}
}

// editedPages returns the pages that differ from what was published. Outside of a clone and of a
// kit nothing says what was.
func (c *checkup) editedPages(ctx context.Context, kit *bundle.Kit) (edited []string) {
	var pages []string
	for _, lab := range c.labs {
		for _, page := range lab.Files {
			pages = append(pages, page.Path)
		}
	}
	if kit != nil {
		for _, page := range pages {
			missing, changed, err := kit.Differences(c.folder.Repository, page)
			if err != nil || len(missing)+len(changed) > 0 {
				edited = append(edited, page)
			}
		}
		return edited
	}
	command := exec.CommandContext(ctx, "git", slices.Concat([]string{"status", "--porcelain", "--"}, pages)...)
	command.Dir = c.folder.Repository
	output, _ := command.Output() // none without git
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			edited = append(edited, fields[1])
		}
	}
	return edited
}

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

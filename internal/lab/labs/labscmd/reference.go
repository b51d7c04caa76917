package labscmd

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"orrery/internal/lab/labs/bundle"
)

// reference checks that the pages of the labs are as they were published. A page that differs from
// git or from the kit was edited. A page that does not, but differs from the original in a work
// folder, is newer than that.
func (c *checkup) reference(ctx context.Context, kit *bundle.Kit) {
	edited, known := c.editedPages(ctx, kit)
	newer, err := c.newerPages(edited)
	switch {
	case err != nil:
		c.add("reference", false, false, "doctor-reference-unread", err)
	case len(edited) > 0 && kit != nil:
		c.add("reference", false, false, "doctor-reference-kit", strings.Join(edited, " "))
	case len(edited) > 0:
		c.add("reference", false, false, "doctor-reference-bad", strings.Join(edited, " "))
	case len(newer) > 0 && known:
		c.add("reference", false, true, "doctor-reference-newer", strings.Join(newer, " "))
	case len(newer) > 0:
		c.add("reference", false, true, "doctor-reference-differs", strings.Join(newer, " "))
	default:
		c.add("reference", true, false, "doctor-reference")
	}
}

// editedPages returns the pages that differ from what was published. known is false if nothing here
// says what was: outside of a clone and of a kit.
func (c *checkup) editedPages(ctx context.Context, kit *bundle.Kit) (edited []string, known bool) {
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
		return edited, true
	}
	command := exec.CommandContext(ctx, "git", slices.Concat([]string{"status", "--porcelain", "--"}, pages)...)
	command.Dir = c.folder.Repository
	output, err := command.Output()
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			edited = append(edited, fields[1])
		}
	}
	return edited, err == nil
}

// newerPages returns the started labs with a page that differs from the original in the work
// folder, and is not among those that were edited.
func (c *checkup) newerPages(edited []string) (ids []string, err error) {
	for _, lab := range c.labs {
		for _, page := range lab.Files {
			if !c.folder.Started(lab) || slices.Contains(edited, page.Path) {
				continue
			}
			now, err := os.ReadFile(filepath.Join(c.folder.Repository, filepath.FromSlash(page.Path)))
			if err != nil {
				return nil, err
			}
			then, err := os.ReadFile(c.folder.Base(lab, page.Path))
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(now, then) {
				ids = append(ids, lab.ID)
			}
		}
	}
	return slices.Compact(ids), nil
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

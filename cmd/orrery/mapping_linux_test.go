package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnchangedMappingsAreThoseOfFilesAsTheyAre(t *testing.T) {
	const text = `00400000-00ae8000 r-xp 00000000 fe:00 1053 /opt/my tools/orrery
Size:               7072 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00ae8000-01270000 r--p 006e8000 fe:00 1053 /opt/my tools/orrery (deleted)
Anonymous:             0 kB
KSM:                   0 kB
Swap:                  0 kB
01270000-012ff000 rw-p 00e70000 fe:00 1053 /opt/my tools/orrery
Anonymous:             0 kB
Swap:                  0 kB
02000000-02001000 r--p 00000000 fe:00 1054 /lib/relocated.so
Anonymous:             4 kB
Swap:                  0 kB
03000000-03001000 r--p 00000000 fe:00 1054 /lib/swapped.so
Anonymous:             0 kB
Swap:                  4 kB
04000000-04001000 r--p 00000000 fe:00 1054 /lib/unknown.so
Anonymous:             0 kB
05000000-05001000 r--s 00000000 fe:00 1055 /var/shared
Anonymous:             0 kB
Swap:                  0 kB
c000000000-c000400000 r--p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
7ffe0000-7ffe2000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
Swap:                  0 kB
zzzz-00001000 r--p 00000000 fe:00 1056 /odd
Anonymous:             0 kB
Swap:                  0 kB
06000000 r--p 00000000 fe:00 1056 /odd
Anonymous:             0 kB
Swap:                  0 kB
`
	assert.Equal(t, []mapping{{start: 0x400000, size: 0x6e8000}, {start: 0xae8000, size: 0x788000}}, parseSmaps(text))
	assert.Empty(t, parseSmaps(""))
}

// The program is read from end to end, so that all of it is in memory. That must not be so when it has been let go.
func TestPagesOfTheProgramAreLetGo(t *testing.T) {
	program := unchangedMappings()
	require.NotEmpty(t, program)
	memory, err := os.Open("/proc/self/mem")
	require.NoError(t, err)
	defer memory.Close()
	for _, m := range program {
		_, err := memory.ReadAt(make([]byte, m.size), int64(m.start))
		require.NoError(t, err)
	}
	before := residentPages(t, program)
	giveBackMemory()
	assert.Less(t, residentPages(t, program), before)
}

// residentPages counts the pages of mappings that are in this process's memory.
func residentPages(t *testing.T, mappings []mapping) (pages int) {
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	counted := false
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
		if !strings.HasSuffix(fields[0], ":") {
			counted = false
			for _, m := range mappings {
				counted = counted || m == parseMapping(fields)
			}
		}
		if counted && fields[0] == "Rss:" {
			kib, err := strconv.Atoi(fields[1])
			require.NoError(t, err)
			pages += kib * 1024 / os.Getpagesize()
		}
	}
	return pages
}

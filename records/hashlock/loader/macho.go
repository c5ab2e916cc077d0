package loader

import (
	"debug/macho"
	"encoding/binary"
	"io"
)

// machoFile is the part of one Mach-O slice that decides what gets loaded.
type machoFile struct {
	cpu    macho.Cpu
	linker string // LC_LOAD_DYLINKER
	libs   []machoLib
	rpaths []string
	// environment holds LC_DYLD_ENVIRONMENT entries.
	environment []string
}

type machoLib struct {
	name string
	kind string // load, weak, re-export, upward, lazy
}

// Load commands that debug/macho has no name for.
const (
	lcRequired     = 0x80000000
	lcLoadDylib    = 0xc
	lcLoadLinker   = 0xe
	lcLoadWeak     = 0x18 | lcRequired
	lcRpath        = 0x1c | lcRequired
	lcReexport     = 0x1f | lcRequired
	lcLazyLoad     = 0x20
	lcLoadUpward   = 0x23 | lcRequired
	lcEnvironment  = 0x27
	dylibUseMarker = 0x1a741800

	fatMagic   = 0xcafebabe
	fatMagic64 = 0xcafebabf
	// maxSlices tells a fat file from a Java class, which has the same magic and
	// a version of 45 or more in the place of the count.
	maxSlices = 40
)

// isMachO reports whether a file starts like a thin or fat Mach-O file.
func isMachO(magic [4]byte) bool {
	switch binary.BigEndian.Uint32(magic[:]) {
	case macho.Magic32, macho.Magic64, fatMagic, fatMagic64:
		return true
	}
	switch binary.LittleEndian.Uint32(magic[:]) {
	case macho.Magic32, macho.Magic64:
		return true
	}
	return false
}

// machoCPU is the processor that runs programs of a GOARCH.
func machoCPU(goarch string) macho.Cpu {
	if goarch == "arm64" {
		return macho.CpuArm64
	}
	return macho.CpuAmd64
}

// parseMachO reads the slice for goarch of a fat file, or the only slice of a
// thin one.
func parseMachO(r io.ReaderAt, size int64, goarch string) (*machoFile, error) {
	return parseMachOFor(r, size, machoCPU(goarch))
}

func parseMachOFor(r io.ReaderAt, size int64, cpu macho.Cpu) (*machoFile, error) {
	h, err := readBytes(r, size, 0, 8, "Mach-O magic")
	if err != nil {
		return nil, err
	}
	magic := binary.BigEndian.Uint32(h)
	if magic != fatMagic && magic != fatMagic64 {
		return parseMachOSlice(io.NewSectionReader(r, 0, size), size)
	}
	count := int64(binary.BigEndian.Uint32(h[4:]))
	if count > maxSlices {
		return nil, damagedf("fat file claims %d slices", count)
	}
	width := int64(20)
	if magic == fatMagic64 {
		width = 32
	}
	table, err := readBytes(r, size, 8, count*width, "fat header")
	if err != nil {
		return nil, err
	}
	for i := range count {
		b := table[i*width:]
		if macho.Cpu(binary.BigEndian.Uint32(b)) != cpu {
			continue
		}
		off, n := int64(binary.BigEndian.Uint32(b[8:])), int64(binary.BigEndian.Uint32(b[12:]))
		if magic == fatMagic64 {
			off, n = int64(binary.BigEndian.Uint64(b[8:])), int64(binary.BigEndian.Uint64(b[16:]))
		}
		if off < 0 || n < 0 || off > size || n > size-off {
			return nil, damagedf("fat slice at %d+%d lies outside the file of %d bytes", off, n, size)
		}
		return parseMachOSlice(io.NewSectionReader(r, off, n), n)
	}
	return nil, damagedf("fat file has no slice for %s", cpu)
}

// parseMachOSlice reads the header and the load commands of one slice.
func parseMachOSlice(r io.ReaderAt, size int64) (*machoFile, error) {
	h, err := readBytes(r, size, 0, 28, "Mach-O header")
	if err != nil {
		return nil, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if m := binary.BigEndian.Uint32(h); m == macho.Magic32 || m == macho.Magic64 {
		order = binary.BigEndian
	}
	headerSize := int64(28)
	switch order.Uint32(h) {
	case macho.Magic32:
	case macho.Magic64:
		headerSize = 32
	default:
		return nil, damagedf("no Mach-O magic")
	}
	f := &machoFile{cpu: macho.Cpu(order.Uint32(h[4:]))}
	count, length := order.Uint32(h[16:]), int64(order.Uint32(h[20:]))
	commands, err := readBytes(r, size, headerSize, length, "load commands")
	if err != nil {
		return nil, err
	}
	for i := range count {
		if len(commands) < 8 {
			return nil, damagedf("load command %d of %d lies outside", i, count)
		}
		kind, n := order.Uint32(commands), order.Uint32(commands[4:])
		if n < 8 || int64(n) > int64(len(commands)) {
			return nil, damagedf("load command %d has %d bytes, %d are left", i, n, len(commands))
		}
		if err := f.command(kind, commands[:n], order); err != nil {
			return nil, err
		}
		if len(f.libs) > maxObjects || len(f.rpaths) > maxObjects {
			return nil, damagedf("more than %d libraries or run paths", maxObjects)
		}
		commands = commands[n:]
	}
	return f, nil
}

// command takes in one load command.
func (f *machoFile) command(kind uint32, b []byte, order binary.ByteOrder) error {
	str := func() (string, error) {
		if len(b) < 12 {
			return "", damagedf("load command %#x has %d bytes", kind, len(b))
		}
		off := order.Uint32(b[8:])
		if off < 12 || int64(off) >= int64(len(b)) {
			return "", damagedf("name of load command %#x at %d lies outside its %d bytes", kind, off, len(b))
		}
		// dyld takes the rest of the command when no NUL ends the name.
		s, ended := cString(b[off:])
		if !ended {
			s = string(b[off:])
		}
		if s == "" || len(s) > maxNameBytes {
			return "", damagedf("name of load command %#x has %d bytes", kind, len(s))
		}
		return s, nil
	}
	kinds := map[uint32]string{lcLoadDylib: "load", lcLoadWeak: "weak", lcReexport: "re-export", lcLazyLoad: "lazy", lcLoadUpward: "upward"}
	switch kind {
	case lcLoadDylib, lcLoadWeak, lcReexport, lcLazyLoad, lcLoadUpward:
		name, err := str()
		if err != nil {
			return err
		}
		lib := machoLib{name: name, kind: kinds[kind]}
		// A dylib_use_command stands in a LC_LOAD_DYLIB with a marker for its
		// time stamp and flags behind it.
		if len(b) >= 28 && order.Uint32(b[12:]) == dylibUseMarker && order.Uint32(b[8:]) >= 28 {
			switch flags := order.Uint32(b[24:]); {
			case flags&1 != 0:
				lib.kind = "weak"
			case flags&2 != 0:
				lib.kind = "re-export"
			case flags&4 != 0:
				lib.kind = "upward"
			case flags&8 != 0:
				lib.kind = "lazy"
			}
		}
		f.libs = append(f.libs, lib)
	case lcRpath, lcLoadLinker, lcEnvironment:
		name, err := str()
		if err != nil {
			return err
		}
		switch kind {
		case lcRpath:
			f.rpaths = append(f.rpaths, name)
		case lcLoadLinker:
			f.linker = name
		default:
			f.environment = append(f.environment, name)
		}
	}
	return nil
}

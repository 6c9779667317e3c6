package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Devices is one of the tables [localsched.devices.NAME]: devices of a node that are alike.
type Devices struct {
	Resource   string          `toml:"resource"` // that jobs ask for; empty: the name of the table
	Type       string          `toml:"type"`     // empty: none
	Files      []settings.Path `toml:"files"`
	Count      int             `toml:"count"`       // of devices without files; 0: those of Files
	FirstIndex int             `toml:"first_index"` // of the first device
}

// Device is one device of a node.
type Device struct {
	Name  string // of the resource that jobs ask for
	Type  string // empty: none
	Index int    // among those of the name
	File  string // empty: it has none
}

// TOML prints the table in one line. It implements [settings.Literal].
func (d Devices) TOML() string {
	var keys []string
	text := func(key, value string) {
		if value != "" {
			keys = append(keys, key+" = "+settings.Quote(value))
		}
	}
	number := func(key string, value int) {
		if value != 0 {
			keys = append(keys, key+" = "+strconv.Itoa(value))
		}
	}
	text("resource", d.Resource)
	text("type", d.Type)
	if len(d.Files) > 0 {
		files := make([]string, len(d.Files))
		for i, file := range d.Files {
			files[i] = settings.Quote(string(file))
		}
		keys = append(keys, "files = ["+strings.Join(files, ", ")+"]")
	}
	number("count", d.Count)
	number("first_index", d.FirstIndex)
	return "{ " + strings.Join(keys, ", ") + " }"
}

// of lists the devices of a table with the name, in the order of their indexes.
func (d Devices) of(name string) []Device {
	all := make([]Device, max(len(d.Files), d.Count))
	for i := range all {
		all[i] = Device{Name: cmp.Or(d.Resource, name), Type: d.Type, Index: d.FirstIndex + i}
		if i < len(d.Files) {
			all[i].File = string(d.Files[i])
			if n, ok := nvidiaIndex(all[i].File); ok && d.FirstIndex == 0 {
				all[i].Index = n
			}
		}
	}
	return all
}

// nvidiaIndex is the index that the driver of NVIDIA gives to the device of a file.
func nvidiaIndex(file string) (index int, ok bool) {
	digits, ok := strings.CutPrefix(path.Base(file), "nvidia")
	index, err := strconv.Atoi(digits)
	return index, ok && err == nil && index >= 0
}

// DeviceList lists the devices of a node, by their names and indexes.
func (l *LocalSched) DeviceList() (all []Device) {
	for _, name := range slices.Sorted(maps.Keys(l.Devices)) {
		all = append(all, l.Devices[name].of(name)...)
	}
	slices.SortStableFunc(all, func(a, b Device) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index)) })
	return all
}

// nodeResources are the devices of a node as its group states them.
func (l *LocalSched) nodeResources() (list []protocol.Resource) {
	for _, d := range l.DeviceList() {
		one := protocol.Resource{Name: d.Name, Type: d.Type, Count: 1}
		at, found := slices.BinarySearchFunc(list, one, protocol.CompareResources)
		if found {
			list[at].Count++
			continue
		}
		list = slices.Insert(list, at, one)
	}
	return list
}

// maxDevices is more than any node has of a kind.
const maxDevices = 4096

const wordForm = "use letters, digits and _ . - + = / @"

func (r *checker) checkFeatures(l *LocalSched) {
	for i, name := range l.Features {
		key := fmt.Sprintf("localsched.features[%d]", i)
		switch {
		case !protocol.IsWord(name):
			r.Problem(key, "%q is no name of a feature; %s", name, wordForm)
		case slices.Contains(l.Features[:i], name):
			r.Problem(key, "duplicate feature %q; remove one", name)
		}
	}
	if n := len(l.Features); n > protocol.MaxFeatures {
		r.Problem("localsched.features", "has %d names; use at most %d", n, protocol.MaxFeatures)
	}
	if len(l.Features) > 0 && l.Machine == Partitioned {
		r.Problem("localsched.features", "cannot be used with machine = %q; remove it", Partitioned)
	}
}

// checkLicenses also reports prices of licenses that the machine does not have.
func (r *checker) checkLicenses(l *LocalSched) {
	const table = "localsched.licenses"
	for _, name := range slices.Sorted(maps.Keys(l.Licenses)) {
		key := settings.Join(table, name)
		if !protocol.IsWord(name) {
			r.Problem(key, "%q is no name of a license; %s", name, wordForm)
		}
		if n := l.Licenses[name]; n < 1 || n > math.MaxInt32 {
			r.Problem(key, "is %d; use 1 to %d", n, math.MaxInt32)
		}
	}
	if n := len(l.Licenses); n > protocol.MaxShared {
		r.Problem(table, "has %d names; use at most %d", n, protocol.MaxShared)
	}
	if len(l.Licenses) > 0 && l.Machine == Partitioned {
		r.Problem(table, "cannot be used with machine = %q; remove it", Partitioned)
	}
	if l.Plugin != Process {
		return // its batch system has them
	}
	for i, one := range r.config.Cost.Licenses {
		first := slices.IndexFunc(r.config.Cost.Licenses, func(l LicenseCost) bool { return l.Name == one.Name }) == i
		if _, has := l.Licenses[one.Name]; !has && first && goodName(one.Name) {
			r.Problem(fmt.Sprintf("cost.license[%d].name", i), "the machine has no license %q; add it to [localsched.licenses], or remove its price", one.Name)
		}
	}
}

func (r *checker) checkDevices(l *LocalSched) {
	const table = "localsched.devices"
	names := slices.Sorted(maps.Keys(l.Devices))
	sound := true
	for _, name := range names {
		sound = r.checkDeviceTable(settings.Join(table, name), name, l.Devices[name]) && sound
	}
	switch {
	case len(names) == 0:
	case l.Machine == Partitioned:
		r.Problem(table, "cannot be used with machine = %q; remove it", Partitioned)
	case l.Nodes > 1 && !r.simulated:
		r.Problem(table, "is for a machine with one node, since its jobs are given devices of this computer; remove nodes = %d", l.Nodes)
	}
	if sound {
		r.checkDeviceList(l)
	}
}

// checkDeviceTable checks what can be seen of one table, and says whether it names devices.
func (r *checker) checkDeviceTable(key, name string, d Devices) (sound bool) {
	sound = true
	refuse := func(key, format string, args ...any) {
		r.Problem(key, format, args...)
		sound = false
	}
	if of := cmp.Or(d.Resource, name); !protocol.IsWord(of) {
		where := key
		if d.Resource != "" {
			where = key + ".resource"
		}
		refuse(where, "%q is no name of a resource; %s", of, wordForm)
	}
	if d.Type != "" && !protocol.IsWord(d.Type) {
		refuse(key+".type", "%q is no name of a type; %s", d.Type, wordForm)
	}
	switch {
	case len(d.Files) > 0 && d.Count != 0:
		refuse(key+".count", "is set beside files, which say how many devices there are; remove one of both")
	case len(d.Files) == 0 && d.Count == 0:
		refuse(key, "has no devices; list their files, as [\"/dev/nvidia0\"], or set count for devices without files")
	case d.Count < 0 || max(d.Count, len(d.Files)) > maxDevices:
		refuse(key+".count", "is %d; use 1 to %d", max(d.Count, len(d.Files)), maxDevices)
	}
	if d.FirstIndex < 0 || d.FirstIndex > maxDevices {
		refuse(key+".first_index", "is %d; use 0 to %d", d.FirstIndex, maxDevices)
	}
	if slices.Contains(d.Files, "") {
		refuse(key+".files", "has an empty path; write the path of a device file")
	}
	return sound
}

// checkDeviceList reports devices that are one, and too many kinds of them.
func (r *checker) checkDeviceList(l *LocalSched) {
	const table = "localsched.devices"
	files, indexes := map[string]string{}, map[string]string{} // the keys by what they have named
	for _, name := range slices.Sorted(maps.Keys(l.Devices)) {
		key := settings.Join(table, name)
		for _, d := range l.Devices[name].of(name) {
			if other, twice := files[d.File]; twice && d.File != "" {
				r.Problem(key+".files", "%s is listed in [%s] too; a device can be given to one job only, so remove it there or here", d.File, other)
			}
			files[d.File] = key
			index := fmt.Sprintf("%s %d", d.Name, d.Index)
			if other, twice := indexes[index]; twice {
				r.Problem(key+".first_index", "makes two devices %s with the index %d, here and in [%s]; set an index above those of the other devices", d.Name, d.Index, other)
			}
			indexes[index] = key
		}
	}
	if n := len(l.nodeResources()); n > protocol.MaxResources {
		r.Problem(table, "has %d kinds of devices; use at most %d", n, protocol.MaxResources)
	}
}

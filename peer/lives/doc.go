// Package lives judges which store of a site goes on.
//
// A store may be restored from a backup, and a site's directory may be copied and started
// somewhere else. Neither may run a job again in silence. So each start on a store is a life
// with a number, each change of the rows raises a generation, and three witnesses outside the
// rows remember how far they had come: a small file of the shell, the machine, and the
// partners, which are sent watermarks (docs/decisions/0014). [Store] is this site's own store
// as its rows and its witnesses have it, and says what may be done as long as it is not known
// to be the newest; [Voice] is what is known of the lives that speak for a partner.
//
// Nothing here calls, sends or saves: methods say what has changed, and the core carries it out.
package lives

import "github.com/switchyard-hpc/switchyard/protocol"

// Latest has the most of both lives in all that rises.
func Latest(a, b protocol.Life) protocol.Life {
	return protocol.Life{
		Incarnation: max(a.Incarnation, b.Incarnation), Boot: max(a.Boot, b.Boot),
		Begun: max(a.Begun, b.Begun), Generation: max(a.Generation, b.Generation),
	}
}

// SPDX-License-Identifier: Apache-2.0

package catalog

import "github.com/seed-720a3c77/harness/faults"

// Faults lists every fault and repair that a timeline may name.
func Faults() []faults.Kind {
	return []faults.Kind{
		faults.Kill(),
		faults.Freeze(),
		faults.Thaw(),
		faults.Stop(),
		faults.Start(),
		faults.Drop(),
		faults.DropAnswer(),
		faults.Delay(),
		faults.Hold(),
		faults.Fail(),
		faults.Shorten(),
		faults.GiveAgain(),
		faults.CloseChannel(),
		faults.LinkLatency(),
		faults.LinkHold(),
		faults.LinkBlackHole(),
		faults.LinkCut(),
		faults.LinkReset(),
		faults.LinkBandwidth(),
		faults.LinkSlowClose(),
		faults.KillBroker(),
		faults.RestartBroker(),
		faults.PauseBroker(),
		faults.Alarm(),
		faults.MoveLeader(),
		faults.Purge(),
		faults.DeleteDestination(),
		faults.Mend(),
	}
}

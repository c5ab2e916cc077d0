// Package hostinfo records what the bench host is and does: facts once before
// the first process, disturbances around each process, and the checks of
// pairbench doctor.
//
// A fact is a row of data/host.parquet. Names are dotted and stable, units
// stand in them. A fact that could not be had is a row too, with the reason, so
// that a reader can tell "no governor" from "nobody looked". No host name, user
// name or serial number is recorded; the machine id only as a hash.
//
// On Linux everything comes from /proc, /sys and /etc below a root that tests
// replace by a fixture.
package hostinfo

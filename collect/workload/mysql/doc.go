// Package mysql holds the workload mysql_text: a text-protocol SELECT of one row
// with the payload, through go-sql-driver over verified TLS.
//
// The payload is text and travels both ways: the library interpolates it into the
// query, and the row brings it back, so that every reply is checked against its
// own request. Random bytes would measure the escaping of binary strings too, on
// both sides.
//
// A lease follows the rules of database/sql: the session is reset when a
// connection is leased and must be valid when it is returned. What a reset does
// is the plan's choice (setting mysql_reset): "library" is go-sql-driver's own,
// which asks whether the idle connection is still alive; "full" sends
// COM_RESET_CONNECTION, as pools in other languages do.
package mysql

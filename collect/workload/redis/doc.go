// Package redis holds the workloads redis_echo and redis_pipeline: ECHO through
// go-redis, one command or a batch of them at a time.
//
// Each connection of the engine's pool is a go-redis client of its own with a
// pool of one, so that the lease is the engine's and the connection's state and
// its liveness rules are the library's. Retries are off: a failed request is an
// error, not a slow success.
package redis
